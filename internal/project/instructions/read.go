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

// reader reads one batch of files: each once, whatever name leads to it, and no more than there is
// room for.
type reader struct {
	ctx     context.Context
	room    *Room
	root    *workspace.Root // of the repository; if nil, it cannot be opened
	left    int             // bytes of room
	real    map[string]bool
	sums    map[string]bool // hashes of what was read
	notices []string
}

// reader begins a batch.
func (r *Room) reader(ctx context.Context) *reader {
	return &reader{ctx: ctx, room: r, root: r.tree(), left: maxAll, real: map[string]bool{}, sums: map[string]bool{}}
}

// state is what became of a name.
type state int

const (
	missing  state = iota // nothing is there, or nothing that may be read
	repeated              // it was read before, under this name or another
	fresh
)

// raw is a file before its text is looked at.
type raw struct {
	name  string // absolute, as it was asked for
	path  workspace.Path
	bytes []byte // at most maxFile
	size  int64
}

// maxDepth is how deep imports go (Claude Code: four hops).
const maxDepth = 4

// project reads a file of the repository.
func (in *reader) project(name string) (File, state) {
	if in.root == nil || !exists(name) {
		return File{}, missing
	}
	f, err := in.open(in.root, name, false)
	if err != nil {
		in.tell(err, in.room.shown(name))
		return File{}, missing
	}
	return in.take(f, in.room.shown(name), false)
}

// mine reads a file of the user's own; a link may lead to where they keep it.
func (in *reader) mine(name, shown string) (File, bool) {
	if !exists(name) {
		return File{}, false
	}
	if err := ownfile.Mine(math.MaxInt64).Check(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		in.tell(err, shown)
		return File{}, false
	}
	root, err := workspace.Open(filepath.Dir(name))
	if err != nil {
		return File{}, false
	}
	defer root.Close()
	f, err := in.open(root, name, true)
	if err != nil {
		in.tell(err, shown)
		return File{}, false
	}
	file, state := in.take(f, shown, true)
	return file, state == fresh
}

// errLeft is a file that is left alone without a word: a name in a text need not be one of a file.
var errLeft = errors.New("not a file of instructions")

// open reads a regular text file; a project's must lie in its repository, also behind links.
func (in *reader) open(root *workspace.Root, name string, mine bool) (raw, error) {
	p, err := root.Resolve(name)
	if err != nil || !p.Exists() {
		return raw{}, errLeft
	}
	if p.Outside() {
		if !mine {
			return raw{}, errors.New("it leads out of the repository")
		}
		p = p.Consented()
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

// once reports a file that was not read before, by its place and by its bytes.
func (in *reader) once(f raw) bool {
	sum := sha256.Sum256(f.bytes)
	hash := hex.EncodeToString(sum[:])
	if in.real[f.path.Abs()] || in.sums[hash] {
		return false
	}
	in.real[f.path.Abs()], in.sums[hash] = true, true
	return true
}

// take makes the text of a file, with what it imports.
func (in *reader) take(f raw, shown string, mine bool) (File, state) {
	if strings.TrimSpace(string(f.bytes)) == "" {
		return File{}, missing
	}
	if !in.once(f) {
		return File{}, repeated
	}
	text := in.text(f, mine, 0)
	return File{Shown: shown, Real: f.path.Abs(), Text: text, Size: f.size}, fresh
}

// fit cuts a file to what there is room for, and says so.
func (in *reader) fit(f File) File {
	most := min(maxFile, in.left)
	whole := max(f.Size, int64(len(f.Text)))
	if len(f.Text) > most || f.Size > maxFile {
		f.Text = cutText(f.Text, most) + fmt.Sprintf("\n(cut: the file has %d bytes; read the rest when it matters)", whole)
		in.notices = append(in.notices, fmt.Sprintf("%s has %d bytes, of which the model sees %d: what is always read should be short", f.Shown, whole, min(most, len(f.Text))))
	}
	in.left = max(in.left-len(f.Text), 0)
	return f
}

// cutText is at most so many bytes, in whole lines where they are not too long.
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

// text is what a file says: without comments, with what it imports behind it.
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
			fmt.Fprintf(&b, "\n\n## %s, imported above\n%s", in.room.shown(got.name), in.text(got, mine, depth+1))
		}
	}
	return b.String()
}

// imported opens what a text names with @; if false, it is no file that may be read, and the text
// stands as it is.
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

// where is the place that an import names: relative to the file that names it, or from ~ in a file
// of the user's.
func (in *reader) where(name string, by raw, mine bool) (string, bool) {
	rest, homely := strings.CutPrefix(name, "~/")
	switch {
	case name == "" || len(name) > 1024:
		return "", false
	case homely:
		return filepath.Join(in.room.Home, rest), mine && in.room.Home != ""
	case filepath.IsAbs(name):
		return name, true
	}
	return filepath.Join(filepath.Dir(by.name), name), true
}
