// Package failfs injects failures into a workspace's file operations, one at a time.
//
// The one rule: operations are numbered in order, and the same run has the same numbers, so that a
// test can count them once and then let each one fail. Start at FS.Arm.
//
// Known limits: locks are not numbered; closing a file never fails.
package failfs

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"adze/internal/files/workspace"
)

// Kind is how the chosen operation fails.
type Kind int

const (
	// Error makes the operation fail once without effect.
	Error Kind = iota
	// Short makes a write or copy do half its work and then fail with "no space left"; other
	// operations fail with Error.
	Short
	// Crash does half a write and makes every later operation fail, as if the process had died.
	Crash
	// Persistent makes this and every later operation except file removal fail, like a broken disk.
	Persistent
)

// ErrInjected is the cause of every failure except Short.
var ErrInjected = errors.New("injected failure")

// An FS wraps another FS. Before Arm it only counts.
type FS struct {
	Base   workspace.FS
	NoSync bool // skips syncs, for tests with many writes that are not about durability

	mu    sync.Mutex
	count int
	at    int // 0 means never
	kind  Kind
	log   []string
}

// Arm restarts the count and chooses the n-th operation, 1 being the next; with 0 all succeed.
func (f *FS) Arm(n int, kind Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count, f.at, f.kind, f.log = 0, n, kind, nil
}

// Count returns the number of operations since Arm.
func (f *FS) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Log returns the names of operations since Arm.
func (f *FS) Log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.log...)
}

// step counts an operation and returns its failure; half means to do half of it first.
func (f *FS) step(op string) (half bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.log = append(f.log, op)
	if f.at == 0 || f.count < f.at {
		return false, nil
	}
	writes := op == "write" || op == "copy"
	first := f.count == f.at
	switch f.kind {
	case Error:
		if first {
			return false, ErrInjected
		}
		return false, nil
	case Short:
		if !first {
			return false, nil
		}
		if writes {
			return true, syscall.ENOSPC
		}
		return false, ErrInjected
	case Persistent:
		if op == "remove" || op == "removedir" || op == "opendir" {
			return false, nil
		}
	}
	return first && writes, ErrInjected
}

// OpenDir opens the top folder.
func (f *FS) OpenDir() (workspace.Dir, error) {
	if _, err := f.step("opendir"); err != nil {
		return nil, err
	}
	d, err := f.Base.OpenDir()
	return f.dir(d, err)
}

func (f *FS) dir(d workspace.Dir, err error) (workspace.Dir, error) {
	if err != nil {
		return nil, err
	}
	return &dir{f, d}, nil
}

type dir struct {
	fs   *FS
	base workspace.Dir
}

func (d *dir) OpenDir(name string) (workspace.Dir, error) {
	if _, err := d.fs.step("opendir"); err != nil {
		return nil, err
	}
	next, err := d.base.OpenDir(name)
	return d.fs.dir(next, err)
}

func (d *dir) file(op string, open func() (workspace.File, error)) (workspace.File, error) {
	if _, err := d.fs.step(op); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &file{d.fs, f}, nil
}

func (d *dir) Open(name string) (workspace.File, error) {
	return d.file("open", func() (workspace.File, error) { return d.base.Open(name) })
}

func (d *dir) Create(name string, perm fs.FileMode) (workspace.File, error) {
	return d.file("create", func() (workspace.File, error) { return d.base.Create(name, perm) })
}

func (d *dir) Lstat(name string) (workspace.Info, error) {
	if _, err := d.fs.step("lstat"); err != nil {
		return workspace.Info{}, err
	}
	return d.base.Lstat(name)
}

func (d *dir) Info() (workspace.Info, error) {
	if _, err := d.fs.step("stat"); err != nil {
		return workspace.Info{}, err
	}
	return d.base.Info()
}

func (d *dir) Names(limit int) ([]string, error) {
	if _, err := d.fs.step("names"); err != nil {
		return nil, err
	}
	return d.base.Names(limit)
}

func (d *dir) do(op string, act func() error) error {
	if _, err := d.fs.step(op); err != nil {
		return err
	}
	return act()
}

func (d *dir) Mkdir(name string) error {
	return d.do("mkdir", func() error { return d.base.Mkdir(name) })
}

func (d *dir) Rename(from, to string, replace bool) error {
	return d.do("rename", func() error { return d.base.Rename(from, to, replace) })
}

func (d *dir) Remove(name string) error {
	return d.do("remove", func() error { return d.base.Remove(name) })
}

func (d *dir) RemoveDir(name string) error {
	return d.do("removedir", func() error { return d.base.RemoveDir(name) })
}

func (d *dir) Sync() error {
	if d.fs.NoSync {
		return nil
	}
	return d.do("syncdir", d.base.Sync)
}

func (d *dir) Close() error { return d.base.Close() }

type file struct {
	fs   *FS
	base workspace.File
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if _, err := f.fs.step("read"); err != nil {
		return 0, err
	}
	return f.base.ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	half, err := f.fs.step("write")
	if err == nil {
		return f.base.Write(p)
	}
	if half {
		n, _ := f.base.Write(p[:len(p)/2])
		return n, err
	}
	return 0, err
}

func (f *file) CopyFrom(src workspace.File, off, n int64) error {
	half, err := f.fs.step("copy")
	from := src
	if s, ok := src.(*file); ok {
		from = s.base
	}
	if err == nil {
		return f.base.CopyFrom(from, off, n)
	}
	if half {
		_ = f.base.CopyFrom(from, off, n/2)
	}
	return err
}

func (f *file) Info() (workspace.Info, error) {
	if _, err := f.fs.step("stat"); err != nil {
		return workspace.Info{}, err
	}
	return f.base.Info()
}

func (f *file) Keep(old workspace.Info, from workspace.File) error {
	if _, err := f.fs.step("keep"); err != nil {
		return err
	}
	if s, ok := from.(*file); ok {
		from = s.base
	}
	return f.base.Keep(old, from)
}

func (f *file) Sync() error {
	if f.fs.NoSync {
		return nil
	}
	if _, err := f.fs.step("sync"); err != nil {
		return err
	}
	return f.base.Sync()
}

func (f *file) Close() error { return f.base.Close() }
