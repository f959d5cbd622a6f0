package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Hooks names the hooks of the repository that dir lies in which git would run: those in the folder
// that its own settings name, or in its own folder. The user's own, for all repositories, are not
// among them.
func (g Git) Hooks(ctx context.Context, dir string) []string {
	r := &Repo{git: g, dir: dir}
	own, mine := "", ""
	r.scoped(ctx, func(theirs bool, key, value string) {
		switch {
		case key != "core.hookspath":
		case theirs:
			own = value
		default:
			mine = value
		}
	})
	if own == "" && mine != "" {
		return nil
	}
	out, err := r.text(ctx, "rev-parse", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(out, "\n")
	if lines[0] == "" {
		return nil
	}
	at := filepath.Join(resolved(dir, lines[0]), "hooks")
	if own != "" {
		base := dir
		if err == nil && len(lines) > 1 {
			base = lines[1]
		}
		at = hooksAt(base, own, r.git.Env)
	}
	return hooksIn(at)
}

// hooksAt is the folder that core.hooksPath names, as git reads it in the top folder of the work
// tree.
func hooksAt(top, name string, env []string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		for _, kv := range env {
			if home, ok := strings.CutPrefix(kv, "HOME="); ok {
				return filepath.Join(home, rest)
			}
		}
	}
	return resolved(top, name)
}

// hooksIn lists the hooks of a folder that git would run.
func hooksIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !strings.Contains(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
