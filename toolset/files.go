package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/editors/lsp"
	"adze/internal/files/formatter"
	"adze/internal/files/notebook"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/internal/text/plural"
	"adze/tool"
)

// files is shared by read, write and edit: the workspace, and the state of files seen by each
// session.
type files struct {
	root       *workspace.Root
	knownFiles *workspace.KnownFiles
	bounds     Bounds
	withhold   func(root string) func(dir, name string) bool
	code       *lsp.Servers
	formatters *formatter.Formatters
	brief      bool // offer the usual arguments only, see Deps.Brief
}

type asker func(context.Context, tool.Need) error

// locate resolves a path whose need the gate has allowed. The gate judged the name; if symlinks
// lead out of the workspace, it asks for the target, so that changing a link meanwhile gains
// nothing.
func (f files) locate(ctx context.Context, ask asker, perm tool.Permission, name string) (workspace.Path, error) {
	p, err := f.root.Resolve(name)
	if err != nil {
		return p, err
	}
	if p.Outside() && !p.Direct() {
		if err := ask(ctx, tool.Need{Permission: perm, Target: p.Abs()}); err != nil {
			return p, err
		}
	}
	return p.WithConsent(), nil
}

// mayLook asks whether a check may read a file before the call is allowed: by its name, and by its
// target behind symlinks.
func mayLook(ctx context.Context, ask asker, p workspace.Path) error {
	for _, name := range slices.Compact([]string{p.Original(), p.Abs()}) {
		if err := ask(ctx, tool.Need{Permission: tool.Read, Target: name}); err != nil {
			return err
		}
	}
	return nil
}

// heldBack returns a filter for files below an allowed path that must not be read; nil if all may.
func (f files) heldBack(p workspace.Path) func(dir, name string) bool {
	if f.withhold == nil {
		return nil
	}
	return f.withhold(p.Abs())
}

// leftOut counts withheld files, or returns "".
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return plural.Of(n, "file") + " left out: not permitted to read; read them by name to be asked"
}

// open opens a regular file. For a missing one the error suggests similar names.
func (f files) open(p workspace.Path) (*workspace.Opened, error) {
	o, err := f.root.Open(p)
	if tool.CodeOf(err) == tool.CodeNotFound {
		return nil, f.missing(p)
	}
	return o, err
}

func (f files) missing(p workspace.Path) error {
	if !p.Direct() {
		return tool.Fail(tool.CodeNotFound, "%s leads by a link to %s, which does not exist; glob or list shows what does", brief(p.Original()), brief(p.Display()))
	}
	names := f.root.Similar(p)
	if len(names) == 0 {
		return tool.Fail(tool.CodeNotFound, "%s does not exist; glob or list shows what does", brief(p.Display()))
	}
	return tool.Fail(tool.CodeNotFound, "%s does not exist; did you mean %s?", brief(p.Display()), strings.Join(names, ", "))
}

// brief shortens a very long name for a message.
func brief(name string) string {
	const most = 300
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// content is a complete text file.
type content struct {
	state  workspace.State
	format text.Format
	raw    []byte
	text   string
	book   *notebook.Book // a notebook's cells, which are shown instead
}

// face returns the text for read and edit.
func (c content) face() string {
	if c.book != nil {
		return c.book.Text
	}
	return c.text
}

// load reads and decodes a whole text file up to limit bytes.
func load(ctx context.Context, o *workspace.Opened, p workspace.Path, limit int64) (content, error) {
	raw, err := o.Bytes(ctx, limit)
	if err != nil {
		return content{}, err
	}
	return decoded(o, p, raw)
}

// decoded returns a file's content as text.
func decoded(o *workspace.Opened, p workspace.Path, raw []byte) (content, error) {
	if kind := text.Sniff(raw); !kind.Text {
		return content{}, binary(p, kind)
	}
	c := content{raw: raw, format: text.Detect(raw)}
	c.text = c.format.Decode(raw)
	c.state = describeState(o.State(raw), c.format)
	c.book = bookOf(p, c.text)
	return c, nil
}

// bookOf parses a notebook; nil for other files.
func bookOf(p workspace.Path, text string) *notebook.Book {
	if !strings.EqualFold(filepath.Ext(p.Abs()), ".ipynb") {
		return nil
	}
	b, _ := notebook.Parse(text)
	return b
}

func describeState(s workspace.State, f text.Format) workspace.State {
	s.Encoding, s.EOL, s.BOM = string(f.Encoding), string(f.EOL), f.BOM
	return s
}

func binary(p workspace.Path, kind text.Kind) error {
	return tool.Fail(tool.CodeBinary, "%s is not text: %s; look into it with bash (file, strings, xxd)", p.Display(), kind.Name)
}

func shownDiff(d string) string {
	const lines, size = 600, 48 << 10
	end := 0
	for range lines {
		i := strings.IndexByte(d[end:], '\n')
		if i < 0 || end+i+1 > size {
			break
		}
		end += i + 1
	}
	if rest := strings.Count(d[end:], "\n"); rest > 0 {
		return d[:end] + fmt.Sprintf("\\ %d more lines are not shown\n", rest)
	}
	return d
}

// withNotes appends notes for the user to a tool's output.
func withNotes(out string, notes []string) string {
	for _, n := range notes {
		out += "\nnote: " + n
	}
	return out
}

// lineIndexes caches line offsets for the last large files read.
type lineIndexes struct {
	mu    sync.Mutex
	files map[string]indexedFile
	order []string
}

type indexedFile struct {
	stamp workspace.Stamp
	index *text.Index
}

// of returns the index for a file's current state and drops older ones.
func (l *lineIndexes) of(p workspace.Path, stamp workspace.Stamp) *text.Index {
	const kept = 16
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]indexedFile{}
	}
	if known, ok := l.files[p.Abs()]; ok && known.stamp == stamp {
		return known.index
	} else if !ok {
		l.order = append(l.order, p.Abs())
	}
	l.files[p.Abs()] = indexedFile{stamp, &text.Index{}}
	if len(l.order) > kept {
		delete(l.files, l.order[0])
		l.order = l.order[1:]
	}
	return l.files[p.Abs()].index
}

// isMissing reports whether nothing exists there.
func isMissing(err error) bool {
	var e *workspace.Error
	return errors.As(err, &e) && e.Code == workspace.NotFound
}

// mark returns a copy of the file's byte order mark.
func (c content) mark() []byte { return append([]byte(nil), c.raw[:c.format.Offset("")]...) }

// restoreSeen restores a file's state from the metadata of a read, write or edit. Folders and
// images have none.
func restoreSeen(seen *workspace.KnownFiles, session string, metadata json.RawMessage) error {
	var m struct {
		Seen *workspace.State `json:"seen"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return fmt.Errorf("restore what was read: %w", err)
	}
	if m.Seen != nil {
		seen.Restore(session, *m.Seen)
	}
	return nil
}

// restorePatched restores the states of a patch's files.
func restorePatched(seen *workspace.KnownFiles, session string, metadata json.RawMessage) error {
	var m struct {
		Files []json.RawMessage `json:"files"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return fmt.Errorf("restore what was patched: %w", err)
	}
	for _, f := range m.Files {
		if err := restoreSeen(seen, session, f); err != nil {
			return err
		}
	}
	return nil
}
