package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setting is one setting that git reads for a repository. Git writes the section and the last word
// of a key in lower case, and the name between them as it is written.
type setting struct {
	own        bool // of the repository itself, not of the user or the machine
	key, value string
	file       string // absolute; if empty, it stands in no file
}

// Bounds of what a configuration may name. A user has one or two of each.
const (
	maxIncluded = 50
	maxNamed    = 100
)

// settings lists what git reads for the repository, and what it would read on another branch or in
// another work tree: of the files that the repository includes under a condition each is read,
// whether the condition holds or not. Git runs nothing for that.
//
// With plain, the settings are those of a git that the user starts. A git older than 2.26 does not
// say whose a setting is; then none counts as the repository's own.
func (r *Repo) settings(ctx context.Context, plain bool) ([]setting, error) {
	all, err := r.listed(ctx, plain, true)
	scoped := err == nil
	if !scoped {
		if all, err = r.listed(ctx, plain, false); err != nil {
			return nil, err
		}
	}
	read := map[string]bool{}
	for _, s := range all {
		read[s.file] = true
	}
	for i := 0; i < len(all); i++ {
		s := all[i]
		path := includedBy(s, r.git.Env)
		if path == "" || read[path] || scoped && !s.own {
			continue
		}
		read[path] = true
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // git reads nothing there either
		}
		if len(read) > maxIncluded {
			return all, fail(CodeInvalid, nil, "the repository includes more than %d files in its configuration, which are not all read; look with bash", maxIncluded)
		}
		more, err := r.listed(ctx, plain, false, "--file", path)
		if err != nil {
			continue // git dies of it where it includes the file
		}
		for _, m := range more {
			m.own = s.own
			all = append(all, m)
		}
	}
	return all, nil
}

// includedBy is the file that a setting includes; if empty, it includes none.
func includedBy(s setting, env []string) string {
	section, _, _ := strings.Cut(s.key, ".")
	if section != "include" && section != "includeif" || !strings.HasSuffix(s.key, ".path") || s.value == "" || s.file == "" {
		return ""
	}
	return expanded(filepath.Dir(s.file), s.value, env)
}

// expanded is a path of a setting: ~/ is the home folder of env, and dir is where a relative one
// begins.
func expanded(dir, path string, env []string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		for _, kv := range env {
			if home, ok := strings.CutPrefix(kv, "HOME="); ok {
				return filepath.Join(home, rest)
			}
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// listed asks git for settings with the files they come from.
func (r *Repo) listed(ctx context.Context, plain, scoped bool, flags ...string) (all []setting, err error) {
	args := append([]string{"config", "--list", "--show-origin", "-z"}, flags...)
	width := 2
	if scoped {
		args, width = append(args, "--show-scope"), 3
	}
	var fields []string
	s := splitter{each: func(text string) {
		if fields = append(fields, text); len(fields) < width {
			return
		}
		origin, text := fields[width-2], fields[width-1]
		key, value, _ := strings.Cut(text, "\n")
		found := setting{own: scoped && (fields[0] == "local" || fields[0] == "worktree"), key: key, value: value}
		if file, ok := strings.CutPrefix(origin, "file:"); ok {
			found.file = expanded(r.home(), file, nil)
		}
		if found.file != "" { // the rest stands on the command line or in the environment
			all = append(all, found)
		}
		fields = nil
	}}
	_, err = r.run(ctx, call{args: args, stream: s.write, plain: plain})
	return all, err
}

// namedIn lists the names that settings of a section have: x of "filter.x.clean".
func namedIn(all []setting, section string) (names []string) {
	for _, s := range all {
		rest, ok := strings.CutPrefix(s.key, section+".")
		end := strings.LastIndexByte(rest, '.')
		if ok && end >= 0 && !slices.Contains(names, rest[:end]) && len(names) <= maxNamed {
			names = append(names, rest[:end])
		}
	}
	slices.Sort(names)
	return names
}
