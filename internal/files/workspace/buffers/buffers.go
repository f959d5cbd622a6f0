// Package buffers is a workspace's way to files that an editor has open: what is read is what the
// user sees there, saved or not, and what is written goes through the editor.
//
// The one rule: what was read is what staleness is judged by, and before a write the editor is
// asked once more: where the user typed meanwhile, nothing is written.
//
// Start reading at FS, then dir.Open and dir.Rename. A file that the editor has nothing to say
// about is that of the disk.
//
// Known limits: a search finds what was not saved in files with a match on the disk, in the newest
// ones, and in those that were read before (drafts.go). Undo keeps what is on the disk, and so not
// what was never saved. An editor that does not save what it is given leaves the file on the disk
// as it was, for commands, too.
package buffers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/files/workspace"
)

// Limit is how large a file may be that the editor is asked about, in bytes: one line of the
// protocol holds it, also where each byte of it is escaped twice. It is below workspace.HashLimit,
// so that all of these are compared by content.
const Limit = 4 << 20

// ErrRefused is wrapped by the error of an editor that answered, and has nothing to say about the
// file.
var ErrRefused = errors.New("the editor does not have the file")

// FS asks an editor about files of Base.
type FS struct {
	Base workspace.FS
	// Read is the text of a file as the editor has it, Write gives it a new one. If nil, it offers no
	// such thing.
	Read  func(path string) (string, error)
	Write func(path, text string) error

	mu      sync.Mutex
	unsaved map[string]bufferText // by path
}

// bufferText is a text that the disk does not have.
type bufferText struct {
	disk workspace.Stamp // of the file that the text is a newer state of
	told string          // as the editor told it
	size int64           // of the text as the file would hold it
}

// OpenDir opens the top folder.
func (f *FS) OpenDir() (workspace.Dir, error) {
	d, err := f.Base.OpenDir()
	if err != nil {
		return nil, err
	}
	return &dir{d, f, "/"}, nil
}

func (f *FS) get(path string) (bufferText, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, ok := f.unsaved[path]
	return u, ok
}

func (f *FS) set(path string, u *bufferText) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if u == nil {
		delete(f.unsaved, path)
		return
	}
	if f.unsaved == nil {
		f.unsaved = map[string]bufferText{}
	}
	f.unsaved[path] = *u
}

// dir is a folder of which the path is known.
type dir struct {
	workspace.Dir
	fs   *FS
	path string
}

func (d *dir) OpenDir(name string) (workspace.Dir, error) {
	inner, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &dir{inner, d.fs, path.Join(d.path, name)}, nil
}

// Open asks the editor. What only differs in how lines end or by a byte order mark is the file of
// the disk.
func (d *dir) Open(name string) (workspace.File, error) {
	base, err := d.Dir.Open(name)
	if err != nil || d.fs.Read == nil {
		return base, err
	}
	at := path.Join(d.path, name)
	content, info, ok := whole(base)
	if !ok {
		return base, nil
	}
	told, err := d.fs.Read(at)
	if errors.Is(err, ErrRefused) {
		d.fs.set(at, nil)
		return base, nil
	}
	if err != nil {
		base.Close()
		return nil, fmt.Errorf("ask the editor for %s: %w", name, err)
	}
	text, same := like(string(content), told)
	if same || len(text) > Limit {
		d.fs.set(at, nil)
		return base, nil
	}
	d.fs.set(at, &bufferText{disk: info.Stamp, told: told, size: int64(len(text))})
	return &file{base, text}, nil
}

// whole is the content of a file that an editor could have as a text.
func whole(f workspace.File) (content []byte, info workspace.Info, ok bool) {
	info, err := f.Info()
	if err != nil || !info.Mode.IsRegular() || info.MadeUp || info.Stamp.Size > Limit {
		return nil, info, false
	}
	content = make([]byte, info.Stamp.Size)
	n, err := f.ReadAt(content, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, info, false
	}
	content = content[:n]
	return content, info, utf8.Valid(content) && bytes.IndexByte(content, 0) < 0
}

const bom = "\ufeff"

// like makes of an editor's text the bytes that its file would have: editors keep the ends of lines
// and the byte order mark to themselves. same: they are those that it has.
func like(disk, told string) (text string, same bool) {
	if plain(disk) == plain(told) {
		return disk, true
	}
	text = told
	if strings.Contains(disk, "\r\n") && !strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.HasPrefix(disk, bom) && !strings.HasPrefix(text, bom) {
		text = bom + text
	}
	return text, false
}

func plain(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, bom), "\r\n", "\n")
}

// Lstat knows the size of what is not saved, as long as it is a state of this file.
func (d *dir) Lstat(name string) (workspace.Info, error) {
	info, err := d.Dir.Lstat(name)
	if u, ok := d.fs.get(path.Join(d.path, name)); ok && err == nil && u.disk == info.Stamp {
		info.Stamp.Size = u.size
	}
	return info, err
}

func (d *dir) Create(name string, perm fs.FileMode) (workspace.File, error) {
	f, err := d.Dir.Create(name, perm)
	if err != nil {
		return nil, err
	}
	return newFileInfo{f}, nil
}

// Rename is how a finished file takes its name: the editor is given its text instead.
func (d *dir) Rename(from, to string, replace bool) error {
	at := path.Join(d.path, to)
	text, ok := d.text(from)
	if d.fs.Write == nil || !ok {
		return d.Dir.Rename(from, to, replace)
	}
	if _, err := d.Dir.Lstat(to); err == nil && !replace {
		return fs.ErrExist
	}
	open, err := d.unmoved(to, replace)
	if err != nil {
		return err
	}
	switch err := d.fs.Write(at, text); {
	case errors.Is(err, ErrRefused) && !open:
		return d.Dir.Rename(from, to, replace)
	case err != nil:
		return fmt.Errorf("have the editor write %s: %w", to, err)
	}
	d.fs.set(at, nil)
	return d.Dir.Remove(from)
}

// unmoved asks the editor once more for a file that is to be replaced: what was typed since it was
// read is not written over. open: the editor has a text that is not saved.
func (d *dir) unmoved(name string, replace bool) (open bool, err error) {
	u, open := d.fs.get(path.Join(d.path, name))
	if d.fs.Read == nil || !replace {
		return open, nil
	}
	now, err := d.fs.Read(path.Join(d.path, name))
	if errors.Is(err, ErrRefused) && !open {
		return false, nil
	}
	if err != nil {
		return open, fmt.Errorf("ask the editor for %s: %w", name, err)
	}
	if !open {
		u.told, _ = d.text(name)
	}
	if plain(now) != plain(u.told) {
		return open, &workspace.Error{Code: workspace.Stale, Message: name + " was changed in the editor meanwhile; read it again"}
	}
	return open, nil
}

// text is that of a file, where an editor could take it.
func (d *dir) text(name string) (string, bool) {
	f, err := d.Dir.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	content, _, ok := whole(f)
	return string(content), ok
}

// file is a file whose text is the editor's.
type file struct {
	workspace.File
	content string
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return strings.NewReader(f.content).ReadAt(p, off)
}

func (f *file) Info() (workspace.Info, error) {
	info, err := f.File.Info()
	info.Stamp.Size = int64(len(f.content))
	return info, err
}

// newFileInfo is a new file. It takes the mode of an older one from the disk.
type newFileInfo struct{ workspace.File }

func (m newFileInfo) Keep(old workspace.Info, from workspace.File) error {
	if f, ok := from.(*file); ok {
		from = f.File
	}
	return m.File.Keep(old, from)
}
