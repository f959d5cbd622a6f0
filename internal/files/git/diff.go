package git

import (
	"context"
	"strings"
)

// DiffQuery chooses two sides. Without a range the newer side is the work tree, or with Staged the
// index; the older one is the index, or with Staged HEAD, unless Base names a commit.
type DiffQuery struct {
	Path   string // relative to the folder of the Repo
	Staged bool
	Base   string
	// Range is one commit, compared with its first parent, or a..b, or a...b for what b changed
	// since it parted from a. It excludes Staged and Base.
	Range string
	// Strip and Add change the paths in the patch: of those below Strip it is taken away, Add is
	// put before all. Both are "" or end in a slash, and one of them is "".
	Strip, Add string
	Stat       bool // counts alone, no patch
	MaxFiles   int  // kept in Diff.Files
	MaxBytes   int  // kept of the patch, whole lines
	// Withhold says of a path below Repo.Top that its content is not to be seen; such files, and
	// renames from or to one, are counted in Diff.Withheld and in nothing else. If nil, all may be
	// seen.
	Withhold func(path string) bool
}

// Diff is what differs. Files, Added and Deleted are exact, whatever is kept.
type Diff struct {
	Files          []FileDiff
	TotalFiles     int
	Added, Deleted int
	Withheld       int
	Patch          string   // the start of the unified diff
	PatchLines     int64    // of the whole
	Commit         *Message // of a range of one commit
	// Unknown says of a path without differences that neither the index nor a side of the
	// comparison has it.
	Unknown bool
}

// FileDiff is one changed file. Paths are relative to Repo.Top.
type FileDiff struct {
	Path           string
	From           string // the old name of a rename or copy
	Added, Deleted int
	Binary         bool // lines were not counted
}

// Message is what a commit says of itself.
type Message struct {
	Hash, Author, Date string
	Text               string // subject and body
	Parents            int
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
	sides, err := r.sides(ctx, q, &d)
	if err != nil {
		return d, err
	}
	options := append([]string{"diff"}, diffOptions()...)
	behind := append(sides, "--", q.Path)
	n := numstat{diff: &d, most: q.MaxFiles, withhold: q.Withhold}
	if err := r.records(ctx, n.record, append(append(options, "--numstat", "-z"), behind...)...); err != nil {
		return d, err
	}
	if d.TotalFiles+d.Withheld == 0 && q.Path != "." {
		d.Unknown, err = r.unknown(ctx, q.Path, sides)
	}
	if q.Stat || d.TotalFiles == 0 {
		return d, err
	}
	shape := []string{"--patch", "--unified=3", "--src-prefix=a/" + q.Add, "--dst-prefix=b/" + q.Add}
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
	d.Patch, d.PatchLines = out.Head, out.Lines
	return d, err
}

// maxHeld bounds the paths that one diff leaves out, since each is an argument.
const maxHeld = 500

// sides turns a query into the arguments that name what is compared.
func (r *Repo) sides(ctx context.Context, q DiffQuery, d *Diff) ([]string, error) {
	switch {
	case q.Range != "" && (q.Staged || q.Base != ""):
		return nil, fail(CodeInvalid, nil, "a commit or range has both sides already; leave base and staged out")
	case q.Range != "":
		return r.rangeSides(ctx, q.Range, d)
	}
	var sides []string
	if q.Staged {
		sides = append(sides, "--cached")
	}
	if q.Base != "" {
		hash, err := r.Resolve(ctx, q.Base)
		if err != nil {
			return nil, err
		}
		sides = append(sides, hash)
	}
	return sides, nil
}

func (r *Repo) rangeSides(ctx context.Context, text string, d *Diff) ([]string, error) {
	from, to, dots := splitRange(text)
	if dots == "" {
		return r.oneCommit(ctx, text, d)
	}
	a, b, err := r.ends(ctx, from, to)
	if dots == "..." {
		return []string{a + "..." + b}, err
	}
	return []string{a, b}, err
}

// oneCommit compares a commit with its first parent, or with nothing.
func (r *Repo) oneCommit(ctx context.Context, rev string, d *Diff) ([]string, error) {
	hash, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	var f []string
	err = r.records(ctx, func(field string) { f = append(f, field) }, "log", "-z", "--max-count=1", "--no-patch",
		"--no-show-signature", "--no-color", "--no-decorate", "--encoding=UTF-8", "--format=tformat:%H%x00%an <%ae>%x00%ad%x00%P%x00%B", "--date=iso", hash)
	if err != nil {
		return nil, err
	}
	if len(f) < 5 {
		return nil, fail(CodeIO, nil, "git log gave no message for %s; try again", hash)
	}
	parents := strings.Fields(f[3])
	d.Commit = &Message{Hash: f[0], Author: f[1], Date: f[2], Text: strings.TrimSpace(f[4]), Parents: len(parents)}
	if len(parents) == 0 {
		return []string{emptyTree(hash), hash}, nil
	}
	return []string{parents[0], hash}, nil
}

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
