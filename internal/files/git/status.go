package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Values for git status --untracked-files: folders as one entry, or each file.
const (
	UntrackedNormal = "normal"
	UntrackedAll    = "all"
)

// Status is a worktree's state. Paths are relative to Repo.Top.
type Status struct {
	Branch          string // "" when detached
	Commit          string // full hash; "" before the first commit
	Upstream        string // "" if none
	UpstreamGone    bool   // the upstream is configured but does not exist
	Ahead, Behind   int
	Operation       string // merge, rebase or similar in progress, in words
	Staged, Changed Group
	Conflicts       Group
	Untracked       Group
	// Filtered lists changed files with a content filter, which did not run: they may be unchanged.
	Filtered []string
}

// Clean reports whether nothing differs.
func (s Status) Clean() bool {
	return s.Staged.Total+s.Changed.Total+s.Conflicts.Total+s.Untracked.Total == 0
}

// Group counts entries of one kind and keeps the first ones.
type Group struct {
	Total   int
	Entries []Entry
}

// Entry is a path. State is a letter from git status (M A D R C T), two for a conflict, "" if
// untracked.
type Entry struct {
	State   string
	Path    string
	OldName string // old name after a rename or copy
}

func (g *Group) add(limit int, e Entry) {
	g.Total++
	if len(g.Entries) < limit {
		g.Entries = append(g.Entries, e)
	}
}

// Status returns the differences at path, keeping at most limit entries in each group.
func (r *Repo) Status(ctx context.Context, path, untracked string, limit int) (Status, error) {
	p := statusParser{limit: limit}
	err := r.records(ctx, p.record, "status", "--porcelain=v2", "-z", "--branch", "--ahead-behind", "--find-renames",
		"--untracked-files="+untracked, "--ignore-submodules=dirty", "--", path)
	if err != nil {
		return Status{}, err
	}
	p.status.Operation = r.doing()
	p.status.Filtered, err = r.filtered(ctx, p.status.Changed.Entries)
	return p.status, err
}

// statusParser parses porcelain format v2 (git-status, "Porcelain Format Version 2").
type statusParser struct {
	status  Status
	limit   int
	renamed *Entry // waits for its old name, the next record
}

func (p *statusParser) record(line string) {
	if p.renamed != nil {
		p.renamed.OldName = line
		p.changed(*p.renamed)
		p.renamed = nil
		return
	}
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "#":
		p.header(rest)
	case "1":
		if f := strings.SplitN(rest, " ", 8); len(f) == 8 {
			p.changed(Entry{State: f[0], Path: f[7]})
		}
	case "2":
		if f := strings.SplitN(rest, " ", 9); len(f) == 9 {
			p.renamed = &Entry{State: f[0], Path: f[8]}
		}
	case "u":
		if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
			p.status.Conflicts.add(p.limit, Entry{State: f[0], Path: f[9]})
		}
	case "?":
		p.status.Untracked.add(p.limit, Entry{Path: rest})
	}
}

// changed adds an entry under staged, changed or both; after a staged rename, a later change has
// only the new name.
func (p *statusParser) changed(e Entry) {
	if len(e.State) != 2 {
		return
	}
	index, tree := e.State[:1], e.State[1:]
	if index != "." {
		p.status.Staged.add(p.limit, Entry{State: index, Path: e.Path, OldName: e.from(index)})
	}
	if tree != "." {
		p.status.Changed.add(p.limit, Entry{State: tree, Path: e.Path, OldName: e.from(tree)})
	}
}

func (e Entry) from(state string) string {
	if state == "R" || state == "C" {
		return e.OldName
	}
	return ""
}

func (p *statusParser) header(line string) {
	name, value, _ := strings.Cut(line, " ")
	s := &p.status
	switch name {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value
		}
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream, s.UpstreamGone = value, true
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, s.Behind, s.UpstreamGone = number(strings.TrimPrefix(ahead, "+")), number(strings.TrimPrefix(behind, "-")), false
	}
}

func number(s string) (n int) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1<<40 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// doing describes the operation in progress, by the files that git leaves for it.
func (r *Repo) doing() string {
	for _, mark := range [][2]string{
		{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase or am"}, {"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisection"},
	} {
		if _, err := os.Lstat(filepath.Join(r.GitDir, mark[0])); err == nil {
			return mark[1]
		}
	}
	return ""
}

// filtered returns the changed files whose attributes name a filter driver that was disabled.
func (r *Repo) filtered(ctx context.Context, changed []Entry) ([]string, error) {
	const most = 50
	args := []string{"check-attr", "-z", "filter", "--"}
	for _, e := range changed[:min(len(changed), most)] {
		if e.State == "M" {
			args = append(args, filepath.Join(r.Top, e.Path))
		}
	}
	if len(r.filters) == 0 || len(args) == 4 {
		return nil, nil
	}
	var found, fields []string
	err := r.records(ctx, func(field string) {
		if fields = append(fields, field); len(fields) < 3 {
			return
		}
		for _, driver := range r.filters {
			if fields[2] == driver {
				rel, _ := filepath.Rel(r.Top, fields[0]) // cannot fail: joined with r.Top above
				found = append(found, rel)
			}
		}
		fields = fields[:0]
	}, args...)
	return found, err
}

// CheckedOutSubmodules returns the paths of checked out submodules, relative to Repo.Top. Status
// skips them, because git would use their own configuration. An invalid .gitmodules yields none.
func (r *Repo) CheckedOutSubmodules(ctx context.Context) (paths []string) {
	file := filepath.Join(r.Top, ".gitmodules")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	out, _ := r.text(ctx, "config", "--file", file, "--no-includes", "--null", "--get-regexp", `^submodule\..*\.path$`)
	for entry := range strings.SplitSeq(out, "\x00") {
		_, path, ok := strings.Cut(entry, "\n")
		if _, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(path), ".git")); ok && err == nil && filepath.IsLocal(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
