package buffers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/files/workspace/buffers"
)

// editor is one that saves what it is given.
type editor struct {
	open  map[string]string // unsaved texts
	wrote map[string]string
	fails error
}

func (e *editor) read(path string) (string, error) {
	if e.fails != nil {
		return "", e.fails
	}
	if text, ok := e.open[path]; ok {
		return text, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", buffers.ErrRefused, err)
	}
	return string(raw), nil
}

func (e *editor) write(path, text string) error {
	delete(e.open, path)
	e.wrote[path] = text
	return os.WriteFile(path, []byte(text), 0o644)
}

func opened(t *testing.T, e *editor) (*workspace.Root, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e.wrote = map[string]string{}
	if e.open == nil {
		e.open = map[string]string{}
	}
	r, err := workspace.OpenWith(dir, workspace.Options{FS: &buffers.FS{Base: workspace.Disk{}, Read: e.read, Write: e.write}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, r *workspace.Root, name string) (string, workspace.State) {
	t.Helper()
	p, err := r.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	raw, err := o.Bytes(t.Context(), buffers.Limit)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), o.State(raw)
}

// replace exchanges the whole text, after look.
func replace(ctx context.Context, r *workspace.Root, name, text string, look func()) (workspace.Written, error) {
	p, err := r.Resolve(name)
	if err != nil {
		return workspace.Written{}, err
	}
	return r.Update(ctx, p, func(c *workspace.Current) ([]workspace.Splice, error) {
		look()
		size := int64(0)
		if c.Exists {
			size = c.Size()
		}
		return []workspace.Splice{{Offset: 0, Len: size, Data: []byte(text)}}, nil
	})
}

func nothing() {}

// TestWhatIsReadIsWhatTheEditorHas: an unsaved text is read, hashed and exchanged; it goes through
// the editor.
func TestWhatIsReadIsWhatTheEditorHas(t *testing.T) {
	e := &editor{}
	r, dir := opened(t, e)
	path := filepath.Join(dir, "a.txt")
	put(t, path, "saved\n")
	_, saved := content(t, r, "a.txt")
	e.open[path] = "saved, and more\n"
	text, unsaved := content(t, r, "a.txt")
	if text != "saved, and more\n" || saved.SameContent(unsaved) {
		t.Fatalf("read %q, same: %v", text, saved.SameContent(unsaved))
	}
	w, err := replace(t.Context(), r, "a.txt", "new\n", nothing)
	if err != nil {
		t.Fatal(err)
	}
	_, after := content(t, r, "a.txt")
	if e.wrote[path] != "new\n" || !w.State.SameContent(after) {
		t.Errorf("the editor got %q; state %v, now %v", e.wrote[path], w.State, after)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	if _, err := replace(t.Context(), r, "sub/new.txt", "made\n", nothing); err != nil || e.wrote[filepath.Join(dir, "sub", "new.txt")] != "made\n" {
		t.Errorf("a new file: %v, %q", err, e.wrote)
	}
}

// TestNothingIsWrittenOverWhatThePersonTypes: a buffer or a file that changes between the reading
// and the writing is left.
func TestNothingIsWrittenOverWhatThePersonTypes(t *testing.T) {
	e := &editor{}
	r, dir := opened(t, e)
	path := filepath.Join(dir, "a.txt")
	put(t, path, "saved\n")
	e.open[path] = "typing\n"
	_, err := replace(t.Context(), r, "a.txt", "new\n", func() { e.open[path] = "typing on\n" })
	if coded := (*workspace.Error)(nil); !errors.As(err, &coded) || coded.Code != workspace.Stale || len(e.wrote) > 0 {
		t.Errorf("%v; wrote %q", err, e.wrote)
	}
	delete(e.open, path)
	if _, err = replace(t.Context(), r, "a.txt", "new\n", func() { e.open[path] = "begins to type\n" }); err == nil || len(e.wrote) > 0 {
		t.Errorf("a buffer that was saved when it was read: %v, %q", err, e.wrote)
	}
	if _, err = replace(t.Context(), r, "a.txt", "new\n", func() { put(t, path, "changed on the disk\n") }); err == nil || len(e.wrote) > 0 {
		t.Errorf("a file that changed: %v, %q", err, e.wrote)
	}
	e.fails = errors.New("no answer")
	if _, err = replace(t.Context(), r, "a.txt", "new\n", nothing); err == nil || len(e.wrote) > 0 {
		t.Errorf("an editor that does not answer: %v, %q", err, e.wrote)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// TestTheDisksOwnBytesAreKept: editors do not tell how lines end; what they do not have, and what
// is no text, is the disk's.
func TestTheDisksOwnBytesAreKept(t *testing.T) {
	e := &editor{}
	r, dir := opened(t, e)
	for name, c := range map[string]struct{ disk, told, want string }{
		"only the ends of lines differ": {"a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"},
		"with a byte order mark":        {"\ufeffa\n", "a\n", "\ufeffa\n"},
		"unsaved, with both":            {"\ufeffa\r\n", "a\nb\n", "\ufeffa\r\nb\r\n"},
		"no text":                       {"a\x00b", "other", "a\x00b"},
		"not UTF-8":                     {"a\xff", "other", "a\xff"},
		"emptied, not saved":            {"a\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "f")
			put(t, path, c.disk)
			e.open[path] = c.told
			if got, _ := content(t, r, "f"); got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
	e.open = map[string]string{}
	e.fails = fmt.Errorf("%w: not in a project", buffers.ErrRefused)
	put(t, filepath.Join(dir, "g"), "disk\n")
	if got, _ := content(t, r, "g"); got != "disk\n" {
		t.Errorf("read %q", got)
	}
}
