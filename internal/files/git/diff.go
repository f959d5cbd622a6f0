package git

import (
	"context"
	"strings"
)

// DiffQuery selects two sides. The newer side is the worktree, or with Staged the index; the older
// is the index, or with Staged HEAD, unless Base names a commit.
type DiffQuery struct {
	Path   string // relative to the Repo's folder
	Staged bool
	Base   string
	// Strip is removed from the paths in the patch; it is "" or ends in a slash.
	Strip    string
	MaxFiles int // limit for Diff.Files
	MaxBytes int // limit for the patch, in whole lines
	// Withhold reports whether a path below Repo.Top has secret content. Such files, and renames
	// from or to them, are only counted in Diff.Withheld. If nil, all files are shown.
	Withhold func(path string) bool
}

// Diff is the result. TotalFiles, Added and Deleted are exact, even beyond the limits.
type Diff struct {
	Files          []FileDiff
	TotalFiles     int
	Added, Deleted int
	Withheld       int
	Patch          string // first part of the unified diff
}

// FileDiff is a changed file. Paths are relative to Repo.Top.
type FileDiff struct {
	Path           string
	OldName        string // old name after a rename or copy
	Added, Deleted int
	Binary         bool // lines were not counted
}

// diffOptions overrides all configuration that changes a diff's format or runs a program.
func diffOptions() []string {
	return []string{
		"--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short",
		"--find-renames", "--inter-hunk-context=0", "--no-relative",
	}
}

// Diff runs git diff.
func (r *Repo) Diff(ctx context.Context, q DiffQuery) (Diff, error) {
	var d Diff
	var sides []string
	if q.Staged {
		sides = append(sides, "--cached")
	}
	if q.Base != "" {
		hash, err := r.Resolve(ctx, q.Base)
		if err != nil {
			return d, err
		}
		sides = append(sides, hash)
	}
	options := append([]string{"diff"}, diffOptions()...)
	behind := append(sides, "--", q.Path)
	n := numstat{diff: &d, most: q.MaxFiles, withhold: q.Withhold}
	if err := r.records(ctx, n.record, append(append(options, "--numstat", "-z"), behind...)...); err != nil || d.TotalFiles == 0 {
		return d, err
	}
	shape := []string{"--patch", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/"}
	if q.Strip != "" {
		shape = append(shape, "--relative="+q.Strip)
	}
	c := call{args: append(append(options[:len(options):len(options)], shape...), behind...), keep: q.MaxBytes}
	if len(n.excluded) > 0 {
		if len(n.excluded) > maxHeld {
			return d, fail(CodeInvalid, nil, "more than %d of the files that differ may not be read; give a path", maxHeld)
		}
		c.args[len(c.args)-1] = ":(literal)" + q.Path
		c.args, c.options = append(c.args, n.excluded...), []string{"--no-literal-pathspecs"}
	}
	out, err := r.run(ctx, c)
	d.Patch = out.Head
	return d, err
}

// maxHeld bounds the withheld paths in one diff, since each is an argument.
const maxHeld = 500

// numstat parses git diff --numstat -z records: "added TAB deleted TAB path", or for a rename an
// empty path followed by the old and new one. Binary files have - for both counts.
type numstat struct {
	diff    *Diff
	most    int
	pending *FileDiff // a rename waiting for its names
	last    string

	withhold func(path string) bool
	excluded []string // pathspecs that exclude withheld files
}

// holds counts a withheld file. A rename is excluded under both names: under one alone, git would
// show its content as new or deleted.
func (n *numstat) holds(f FileDiff) bool {
	if n.withhold == nil || !n.withhold(f.Path) && (f.OldName == "" || !n.withhold(f.OldName)) {
		return false
	}
	if f.Path != n.last {
		n.last = f.Path
		n.diff.Withheld++
	}
	for _, path := range []string{f.Path, f.OldName} {
		if path != "" && len(n.excluded) <= maxHeld {
			n.excluded = append(n.excluded, ":(exclude,top,literal)"+path)
		}
	}
	return true
}

func (n *numstat) record(line string) {
	if f := n.pending; f != nil {
		if f.OldName == "" {
			f.OldName = line
			return
		}
		f.Path, n.pending = line, nil
		n.add(*f)
		return
	}
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) < 3 {
		return
	}
	f := FileDiff{Path: fields[2], Added: number(fields[0]), Deleted: number(fields[1]), Binary: fields[0] == "-"}
	if f.Path == "" {
		n.pending = &f
		return
	}
	n.add(f)
}

// add counts a file. An unmerged one appears twice: once without lines, once with its difference
// from ours.
func (n *numstat) add(f FileDiff) {
	if n.holds(f) {
		return
	}
	d := n.diff
	d.Added, d.Deleted = d.Added+f.Added, d.Deleted+f.Deleted
	if f.Path == n.last {
		if i := len(d.Files) - 1; i >= 0 && d.Files[i].Path == f.Path {
			d.Files[i].Added, d.Files[i].Deleted = d.Files[i].Added+f.Added, d.Files[i].Deleted+f.Deleted
		}
		return
	}
	n.last = f.Path
	d.TotalFiles++
	if len(d.Files) < n.most {
		d.Files = append(d.Files, f)
	}
}
