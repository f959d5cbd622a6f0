package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hook is a program that git runs at an event because a repository names it.
type Hook struct {
	Event   string
	Setting string // name in the configuration (git 2.54 and later); empty for a file
}

// Hooks lists the repository's hooks for dir: files in its hooks folder and hooks in its
// configuration. It omits the user's own for all repositories.
func (g Git) Hooks(ctx context.Context, dir string) (hooks []Hook) {
	r := &Repo{git: g, dir: dir}
	all, _ := r.settings(ctx, true) // an error means no git or no repository
	for _, event := range hooksIn(r.hookFolder(ctx, all)) {
		hooks = append(hooks, Hook{Event: event})
	}
	return append(hooks, configuredHooks(all)...)
}

// configuredHooks lists the hooks for which the repository sets anything.
func configuredHooks(all []setting) (hooks []Hook) {
	for _, name := range namedIn(all, "hook") {
		own, enabled, events := false, "true", []string(nil)
		for _, s := range all {
			last, ok := strings.CutPrefix(s.key, "hook."+name+".")
			own = own || ok && s.fromRepo
			switch {
			case ok && last == "enabled":
				enabled = s.value
			case ok && last == "event" && s.value == "":
				events = nil
			case ok && last == "event":
				events = append(events, s.value)
			}
		}
		if !own || slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(enabled)) {
			continue
		}
		for _, event := range events {
			hooks = append(hooks, Hook{event, "hook." + name + ".command"})
		}
	}
	return hooks
}

// hookFolder returns the repository's hooks folder, or "" if git runs none of its hooks.
func (r *Repo) hookFolder(ctx context.Context, all []setting) string {
	own, mine := "", ""
	for _, s := range all {
		switch {
		case s.key != "core.hookspath":
		case s.fromRepo:
			own = s.value
		default:
			mine = s.value
		}
	}
	if own == "" && mine != "" {
		return ""
	}
	out, err := r.text(ctx, "rev-parse", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(out, "\n")
	switch {
	case lines[0] == "":
		return ""
	case own == "":
		return filepath.Join(resolved(r.dir, lines[0]), "hooks")
	case err == nil && len(lines) > 1:
		return expanded(lines[1], own, r.git.Env) // relative to the worktree root, as git reads it
	}
	return expanded(r.dir, own, r.git.Env)
}

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
