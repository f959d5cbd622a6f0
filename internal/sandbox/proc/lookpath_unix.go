//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// LookPath finds a command's program: a name with a slash relative to dir, else the first
// executable in env's PATH. It skips relative entries of PATH, so that a workspace cannot put its
// own program first.
func LookPath(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, nil // the start reports errors
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path := filepath.Join(folder, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", failure(CodeNotFound, "program %q is not in PATH", program)
}

func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], key+"="); ok {
			return value
		}
	}
	return ""
}

// sameVariable reports whether two names mean the same variable.
func sameVariable(a, b string) bool { return a == b }

// variable returns a name's canonical form.
func variable(name string) string { return name }
