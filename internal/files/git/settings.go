package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setting is a git setting. Git prints a key's section and last word in lower case, and the name
// between them unchanged.
type setting struct {
	fromRepo   bool // from the repository, not from the user or machine
	key, value string
	file       string // absolute; "" if it comes from no file
}

// Limits for configured names. A user has one or two of each.
const (
	maxIncluded = 50
	maxNamed    = 100
)

// settings lists the repository's settings, including those for other branches and worktrees:
// conditional includes in repository files are always read. Git runs nothing for that.
//
// With plain, the settings are those of a git started by the user. Before 2.26, git does not report
// the scope; then no setting counts as the repository's own.
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
		if path == "" || read[path] || scoped && !s.fromRepo {
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
			continue // git fails if it includes the file
		}
		for _, m := range more {
			m.fromRepo = s.fromRepo
			all = append(all, m)
		}
	}
	return all, nil
}

func includedBy(s setting, env []string) string {
	section, _, _ := strings.Cut(s.key, ".")
	if section != "include" && section != "includeif" || !strings.HasSuffix(s.key, ".path") || s.value == "" || s.file == "" {
		return ""
	}
	return expanded(filepath.Dir(s.file), s.value, env)
}

// expanded expands a path in a setting: ~/ is env's home folder, and relative paths start at dir.
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

func (r *Repo) listed(ctx context.Context, plain, scoped bool, flags ...string) (all []setting, err error) {
	args := append([]string{"config", "--list", "--show-origin", "-z"}, flags...)
	width := 2
	if scoped {
		args, width = append(args, "--show-scope"), 3
	}
	var fields []string
	s := splitter{emit: func(text string) {
		if fields = append(fields, text); len(fields) < width {
			return
		}
		origin, text := fields[width-2], fields[width-1]
		key, value, _ := strings.Cut(text, "\n")
		found := setting{fromRepo: scoped && (fields[0] == "local" || fields[0] == "worktree"), key: key, value: value}
		if file, ok := strings.CutPrefix(origin, "file:"); ok {
			found.file = expanded(r.home(), file, nil)
		}
		if found.file != "" { // others come from the command line or environment
			all = append(all, found)
		}
		fields = nil
	}}
	_, err = r.run(ctx, call{args: args, stream: s.write, plain: plain})
	return all, err
}

// namedIn lists the names in a section: x for "filter.x.clean".
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
