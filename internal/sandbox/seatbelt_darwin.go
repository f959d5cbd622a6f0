package sandbox

import (
	"os"

	"adze/internal/sandbox/proc"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// bySeatbelt starts the shim under a profile, which its children inherit.
func bySeatbelt(p plan) (proc.Confinement, error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return proc.Confinement{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return proc.Confinement{}, err
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Confinement{}, err
	}
	tmp, err := os.MkdirTemp(p.cache, "tmp-")
	if err != nil {
		return proc.Confinement{}, err
	}
	text, params := seatbelt(p)
	argv := []string{sandboxExec, "-p", text}
	for _, kv := range params {
		argv = append(argv, "-D", kv)
	}
	return proc.Confinement{
		Argv: append(argv, exe), Env: p.environAt(p.cache, tmp),
		Done: func() proc.Findings { _ = os.RemoveAll(tmp); return proc.Findings{} },
	}, nil
}
