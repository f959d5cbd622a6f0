package proc

import (
	"os"
	"path/filepath"
	"strings"
)

// LookPath finds a command's program: a name with a separator relative to dir, else the first match
// in env's PATH, with one of PATHEXT's extensions. It skips relative entries of PATH and the
// current folder, so that a workspace cannot put its own program first.
func LookPath(program, dir string, env []string) (string, error) {
	program = filepath.FromSlash(program)
	endings := endings(program, env)
	if strings.ContainsAny(program, `\:`) {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		if path := firstFile(program, endings); path != "" {
			return path, nil
		}
		return program, nil // the start reports errors
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if path := firstFile(filepath.Join(folder, program), endings); path != "" {
			return path, nil
		}
	}
	return "", failure(CodeNotFound, "program %q is not in PATH", program)
}

// endings returns the possible extensions, or only "" if the name has one of them.
func endings(program string, env []string) []string {
	all := strings.Split(strings.ToLower(lookup(env, "PATHEXT")), ";")
	if lookup(env, "PATHEXT") == "" {
		all = []string{".com", ".exe", ".bat", ".cmd"}
	}
	for _, ending := range all {
		if ending != "" && strings.EqualFold(filepath.Ext(program), ending) {
			return []string{""}
		}
	}
	return all
}

func firstFile(path string, endings []string) string {
	for _, ending := range endings {
		if info, err := os.Stat(path + ending); err == nil && info.Mode().IsRegular() {
			return path + ending
		}
	}
	return ""
}

func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if name, value, ok := strings.Cut(env[i], "="); ok && sameVariable(name, key) {
			return value
		}
	}
	return ""
}

// sameVariable reports whether two names mean the same variable.
func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }

// variable returns a name's canonical form, which ignores case.
func variable(name string) string { return strings.ToUpper(name) }
