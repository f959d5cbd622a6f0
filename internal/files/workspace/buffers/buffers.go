// Package buffers gives a workspace access to files through an editor: reads return the editor's
// text, saved or not, and writes go through the editor.
//
// The one rule: staleness is judged by the text that was read, and before a write the editor is
// asked again: if the user typed meanwhile, nothing is written.
//
// Start reading at FS, then dir.Open and dir.Rename. Files unknown to the editor come from the
// disk.
//
// Known limits: a search finds unsaved text in files with a match on disk, in the newest files, and
// in files read before (drafts.go). Undo covers the disk and so misses text that was never saved.
// If an editor does not save what it is given, the file on disk stays old, for commands too.
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

// Limit is the maximum size in bytes of files requested from the editor: one protocol line holds it
// even if each byte is escaped twice. It is below workspace.HashLimit, so these files are compared
// by content.
const Limit = 4 << 20

// ErrRefused is wrapped in the error if the editor answered but does not have the file.
var ErrRefused = errors.New("the editor does not have the file")

// FS accesses files below Base through an editor.
type FS struct {
	Base workspace.FS
	// Read returns the editor's text for a file, Write replaces it. Nil means not supported.
	Read  func(path string) (string, error)
	Write func(path, text string) error

	mu      sync.Mutex
	unsaved map[string]bufferText // by path
}

type bufferText struct {
	disk workspace.Stamp // of the file on disk that the text modifies
	told string          // as received from the editor
	size int64           // size as a file
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

// Open asks the editor. It returns the disk file if the texts differ only in line ends or a byte
// order mark.
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

// whole returns a file's content if an editor could open it as text.
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

// like converts an editor's text to file bytes, restoring line ends and the byte order mark, which
// editors do not report. same means that they equal the disk's.
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

// Lstat returns the unsaved text's size while it modifies this file.
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

// Rename completes a write: it sends the text to the editor instead.
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

// unmoved asks the editor again for a file to be replaced, to avoid overwriting what was typed
// since reading it. open means that the editor has unsaved text.
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

// text returns a file's text if an editor could take it.
func (d *dir) text(name string) (string, bool) {
	f, err := d.Dir.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	content, _, ok := whole(f)
	return string(content), ok
}

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

// newFileInfo is a new file. It takes an older file's mode from the disk.
type newFileInfo struct{ workspace.File }

func (m newFileInfo) Keep(old workspace.Info, from workspace.File) error {
	if f, ok := from.(*file); ok {
		from = f.File
	}
	return m.File.Keep(old, from)
}
