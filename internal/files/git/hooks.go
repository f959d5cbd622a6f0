package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hook is a program that git runs at an event, because a repository names it.
type Hook struct {
	Event   string
	Setting string // names it in the configuration (git 2.54 and later); if empty, it is a file
}

// Hooks lists the hooks of the repository that dir lies in: those in the folder that its own
// settings name, or in its own folder, and those of its configuration. The user's own, for all
// repositories, are not among them.
func (g Git) Hooks(ctx context.Context, dir string) (hooks []Hook) {
	r := &Repo{git: g, dir: dir}
	all, _ := r.settings(ctx, true) // without git, or a repository, there are no hooks
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
			own = own || ok && s.own
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

// hookFolder is where the repository keeps its hooks; if empty, git runs none of them.
func (r *Repo) hookFolder(ctx context.Context, all []setting) string {
	own, mine := "", ""
	for _, s := range all {
		switch {
		case s.key != "core.hookspath":
		case s.own:
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
		return expanded(lines[1], own, r.git.Env) // git reads it in the top folder of the work tree
	}
	return expanded(r.dir, own, r.git.Env)
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
