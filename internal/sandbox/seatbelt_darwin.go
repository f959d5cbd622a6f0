package sandbox

import (
	"os"

	"adze/internal/sandbox/proc"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// bySeatbelt starts the shim under a profile, which its children inherit.
func bySeatbelt(p plan) (proc.Walls, error) {
	if _, err := os.Stat(sandboxExec); err != nil {
		return proc.Walls{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return proc.Walls{}, err
	}
	if err := os.MkdirAll(p.cache, 0o700); err != nil {
		return proc.Walls{}, err
	}
	tmp, err := os.MkdirTemp(p.cache, "tmp-")
	if err != nil {
		return proc.Walls{}, err
	}
	text, params := seatbelt(p)
	argv := []string{sandboxExec, "-p", text}
	for _, kv := range params {
		argv = append(argv, "-D", kv)
	}
	return proc.Walls{
		Argv: append(argv, exe), Env: p.environAt(p.cache, tmp),
		Done: func() proc.Findings { _ = os.RemoveAll(tmp); return proc.Findings{} },
	}, nil
}
