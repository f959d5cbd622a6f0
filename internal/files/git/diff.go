package git

import (
	"context"
	"strings"
)

// DiffQuery chooses two sides. The newer side is the work tree, or with Staged the index; the older
// one is the index, or with Staged HEAD, unless Base names a commit.
type DiffQuery struct {
	Path   string // relative to the folder of the Repo
	Staged bool
	Base   string
	// Strip is taken away from the paths in the patch; it is "" or ends in a slash.
	Strip    string
	MaxFiles int // kept in Diff.Files
	MaxBytes int // kept of the patch, whole lines
	// Withhold says of a path below Repo.Top that its content is not to be seen; such files, and
	// renames from or to one, are counted in Diff.Withheld and in nothing else. If nil, all may be
	// seen.
	Withhold func(path string) bool
}

// Diff is what differs. TotalFiles, Added and Deleted are exact, whatever is kept.
type Diff struct {
	Files          []FileDiff
	TotalFiles     int
	Added, Deleted int
	Withheld       int
	Patch          string // the start of the unified diff
}

// FileDiff is one changed file. Paths are relative to Repo.Top.
type FileDiff struct {
	Path           string
	From           string // the old name of a rename or copy
	Added, Deleted int
	Binary         bool // lines were not counted
}

// diffOptions overrides everything in the configuration that changes what a diff looks like or runs
// a program.
func diffOptions() []string {
	return []string{
		"--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short",
		"--find-renames", "--inter-hunk-context=0", "--no-relative",
	}
}

// Diff compares.
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
	if len(n.held) > 0 {
		if len(n.held) > maxHeld {
			return d, fail(CodeInvalid, nil, "more than %d of the files that differ may not be read; give a path", maxHeld)
		}
		c.args[len(c.args)-1] = ":(literal)" + q.Path
		c.args, c.options = append(c.args, n.held...), []string{"--no-literal-pathspecs"}
	}
	out, err := r.run(ctx, c)
	d.Patch = out.Head
	return d, err
}

// maxHeld bounds the paths that one diff leaves out, since each is an argument.
const maxHeld = 500

// numstat reads the records of git diff --numstat -z: "added TAB deleted TAB path", or for a rename
// an empty path followed by the old and the new one. Binary files have - for both counts.
type numstat struct {
	diff    *Diff
	most    int
	pending *FileDiff // a rename whose names follow
	last    string

	withhold func(path string) bool
	held     []string // path specifications that leave out what is held back
}

// holds counts a file that must not be seen. A rename is left out under both names: under one
// alone, git would show its content as new or deleted.
func (n *numstat) holds(f FileDiff) bool {
	if n.withhold == nil || !n.withhold(f.Path) && (f.From == "" || !n.withhold(f.From)) {
		return false
	}
	if f.Path != n.last {
		n.last = f.Path
		n.diff.Withheld++
	}
	for _, path := range []string{f.Path, f.From} {
		if path != "" && len(n.held) <= maxHeld {
			n.held = append(n.held, ":(exclude,top,literal)"+path)
		}
	}
	return true
}

func (n *numstat) record(line string) {
	if f := n.pending; f != nil {
		if f.From == "" {
			f.From = line
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

// add counts a file. An unmerged one comes twice: as such, without lines, and with its difference
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
