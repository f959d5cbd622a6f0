package instructions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/workspace"
	"adze/internal/osfile/ownfile"
	"adze/internal/text"
	"adze/internal/text/redact"
	"adze/tool"
)

// reader reads a batch of files, each once under any name, up to a size limit.
type reader struct {
	ctx     context.Context
	owner   *Reader
	root    *workspace.Root // the repository; nil if it cannot be opened
	left    int             // remaining bytes
	real    map[string]bool
	sums    map[string]bool // hashes of read files
	notices []string
}

func (r *Reader) reader(ctx context.Context) *reader {
	return &reader{ctx: ctx, owner: r, root: r.tree(), left: maxAll, real: map[string]bool{}, sums: map[string]bool{}}
}

// state is the result for a name.
type state int

const (
	missing  state = iota // nothing readable there
	repeated              // read before, under this name or another
	fresh
)

type raw struct {
	name  string // absolute, as requested
	path  workspace.Path
	bytes []byte // at most maxFile
	size  int64
}

// maxDepth limits nested imports (Claude Code: four).
const maxDepth = 4

// project reads a file in the repository.
func (in *reader) project(name string) (File, state) {
	if in.root == nil || !exists(name) {
		return File{}, missing
	}
	f, err := in.open(in.root, name, false)
	if err != nil {
		in.tell(err, in.owner.displayPath(name))
		return File{}, missing
	}
	return in.take(f, in.owner.displayPath(name), false)
}

// mine reads a user's file, also behind a link.
func (in *reader) mine(name, shown string) (File, bool) {
	f, err := in.openMine(name)
	if err != nil {
		in.tell(err, shown)
		return File{}, false
	}
	file, state := in.take(f, shown, true)
	return file, state == fresh
}

func (in *reader) openMine(name string) (raw, error) {
	if !exists(name) {
		return raw{}, errLeft
	}
	if err := ownfile.Mine(math.MaxInt64).Check(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return raw{}, err
	}
	root, err := workspace.Open(filepath.Dir(name))
	if err != nil {
		return raw{}, errLeft
	}
	defer root.Close()
	return in.open(root, name, true)
}

// errLeft is for a file skipped silently: an @ name in a text need not be a file.
var errLeft = errors.New("not a file of instructions")

// open reads a regular text file; a project's must be in its repository, even behind links.
func (in *reader) open(root *workspace.Root, name string, mine bool) (raw, error) {
	p, err := root.Resolve(name)
	if err != nil || !p.Exists() {
		return raw{}, errLeft
	}
	if p.Outside() {
		if !mine {
			return raw{}, errors.New("it leads out of the repository")
		}
		p = p.WithConsent()
	}
	if p.Protected() && !mine || redact.File(filepath.Split(p.Abs())) {
		return raw{}, fmt.Errorf("%w: such files hold secrets", errLeft)
	}
	if info, err := os.Lstat(p.Abs()); err != nil || !info.Mode().IsRegular() {
		return raw{}, errLeft
	}
	file, err := root.Open(p)
	if err != nil {
		return raw{}, err
	}
	defer file.Close()
	head, err := file.Head(maxFile)
	if err != nil {
		return raw{}, err
	}
	if strings.Contains(text.Plain(head), "\x00") {
		return raw{}, errors.New("it is not text")
	}
	return raw{name: name, path: p, bytes: head, size: file.Size()}, nil
}

func (in *reader) tell(err error, shown string) {
	if !errors.Is(err, errLeft) {
		in.notices = append(in.notices, fmt.Sprintf("%s is not read, and the model does not see it: %v", shown, err))
	}
}

// once reports whether a file is new, by its path and content.
func (in *reader) once(f raw) bool {
	sum := sha256.Sum256(f.bytes)
	hash := hex.EncodeToString(sum[:])
	if in.real[f.path.Abs()] || in.sums[hash] {
		return false
	}
	in.real[f.path.Abs()], in.sums[hash] = true, true
	return true
}

// take returns a file's text with its imports.
func (in *reader) take(f raw, shown string, mine bool) (File, state) {
	if strings.TrimSpace(string(f.bytes)) == "" {
		return File{}, missing
	}
	if !in.once(f) {
		return File{}, repeated
	}
	text := in.text(f, mine, 0)
	return File{DisplayPath: shown, Real: f.path.Abs(), Text: text, Size: f.size}, fresh
}

// fit cuts a file to the remaining space and notes it.
func (in *reader) fit(f File) File {
	most := min(maxFile, in.left)
	whole := max(f.Size, int64(len(f.Text)))
	if len(f.Text) > most || f.Size > maxFile {
		f.Text = cutText(f.Text, most) + fmt.Sprintf("\n(cut: the file has %d bytes; read the rest when it matters)", whole)
		in.notices = append(in.notices, fmt.Sprintf("%s has %d bytes, of which the model sees %d: what is always read should be short", f.DisplayPath, whole, min(most, len(f.Text))))
	}
	in.left = max(in.left-len(f.Text), 0)
	return f
}

// cutText returns at most most bytes, ending at a line if possible.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[:most], "")
	if at := strings.LastIndexByte(text, '\n'); at > most/2 {
		text = text[:at]
	}
	return text
}

// text returns a file without comments, followed by its imports.
func (in *reader) text(f raw, mine bool, depth int) string {
	text, imports := plain(strings.ReplaceAll(text.Plain(f.bytes), "\r\n", "\n"))
	text = tool.ShownHidden(strings.TrimSpace(text))
	if depth == maxDepth {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	for _, name := range imports {
		got, ok := in.imported(name, f, mine)
		if ok && b.Len() < maxFile {
			fmt.Fprintf(&b, "\n\n## %s, imported above\n%s", in.owner.displayPath(got.name), in.text(got, mine, depth+1))
		}
	}
	return b.String()
}

// imported opens a file named with @. If it returns false, the name stays plain text.
func (in *reader) imported(name string, by raw, mine bool) (raw, bool) {
	root := in.root
	for _, spelled := range []string{name, strings.TrimRight(name, ".,;:!?)]}'\"*_>")} {
		path, ok := in.where(spelled, by, mine)
		if !ok || !exists(path) {
			continue
		}
		if mine {
			var err error
			if root, err = workspace.Open(filepath.Dir(path)); err != nil {
				return raw{}, false
			}
			defer root.Close()
		}
		if root == nil {
			return raw{}, false
		}
		f, err := in.open(root, path, mine)
		if err != nil || !in.once(f) {
			return raw{}, false
		}
		return f, true
	}
	return raw{}, false
}

// where resolves an import: relative to its file, or from ~ in a user's file.
func (in *reader) where(name string, by raw, mine bool) (string, bool) {
	rest, homely := strings.CutPrefix(name, "~/")
	switch {
	case name == "" || len(name) > 1024:
		return "", false
	case homely:
		return filepath.Join(in.owner.Home, rest), mine && in.owner.Home != ""
	case filepath.IsAbs(name):
		return name, true
	}
	return filepath.Join(filepath.Dir(by.name), name), true
}
