package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/winfile"
)

// Disk is the operating system's FS.
type Disk struct{}

// OpenDir returns the folder that holds the drives and shares.
func (Disk) OpenDir() (Dir, error) { return volumes{}, nil }

// inUse reports whether err means that another program holds the file open without sharing.
func inUse(err error) bool { return winfile.InUse(err) }

// volumes is a virtual folder above all drives and shares.
type volumes struct{}

// OpenDir opens a drive or share: C:\, \\server\share\.
func (volumes) OpenDir(name string) (Dir, error) {
	h, err := winfile.OpenVolume(name)
	if err != nil {
		return nil, err
	}
	return &diskDir{h}, nil
}

func (volumes) Open(string) (File, error)                { return nil, fs.ErrNotExist }
func (volumes) Create(string, fs.FileMode) (File, error) { return nil, fs.ErrPermission }
func (volumes) Lstat(string) (Info, error)               { return Info{}, fs.ErrNotExist }
func (volumes) Mkdir(string) error                       { return fs.ErrPermission }
func (volumes) Rename(_, _ string, _ bool) error         { return fs.ErrPermission }
func (volumes) Remove(string) error                      { return fs.ErrPermission }
func (volumes) RemoveDir(string) error                   { return fs.ErrPermission }
func (volumes) Names(int) ([]string, error)              { return nil, nil }
func (volumes) Info() (Info, error)                      { return Info{Mode: fs.ModeDir | 0o755}, nil }
func (volumes) Sync() error                              { return nil }
func (volumes) Close() error                             { return nil }

type diskDir struct{ h windows.Handle }

func (d *diskDir) OpenDir(name string) (Dir, error) {
	if name == "." {
		h, err := winfile.Duplicate(d.h)
		return &diskDir{h}, err
	}
	h, err := winfile.Open(d.h, name, winfile.FolderAccess, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return &diskDir{h}, nil
}

func (d *diskDir) Open(name string) (File, error) {
	h, err := winfile.Open(d.h, name, windows.FILE_GENERIC_READ, windows.FILE_OPEN, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return newFile(h, name), nil
}

func (d *diskDir) Create(name string, _ fs.FileMode) (File, error) {
	access := uint32(windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.DELETE | windows.WRITE_DAC)
	h, err := winfile.Open(d.h, name, access, windows.FILE_CREATE, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return newFile(h, name), nil
}

func (d *diskDir) Lstat(name string) (Info, error) {
	s, err := winfile.StatAt(d.h, name)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(s), nil
}

func (d *diskDir) Info() (Info, error) { return infoOf(d.h) }

func (d *diskDir) Mkdir(name string) error {
	h, err := winfile.Open(d.h, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_CREATE, windows.FILE_DIRECTORY_FILE)
	if err == nil {
		err = windows.CloseHandle(h)
	}
	return err
}

// Rename uses POSIX semantics if the file system supports them, so an open file can be replaced.
// Otherwise (FAT, some shares) it first moves an open file aside, and for a moment the name does
// not exist.
func (d *diskDir) Rename(from, to string, replace bool) error {
	return winfile.Patiently(func() error {
		err := winfile.Rename(d.h, from, to, replace)
		if !replace || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		aside := tempPrefix + strings.ToLower(rand.Text()) + tempSuffix
		if winfile.Rename(d.h, to, aside, false) != nil {
			return err
		}
		if err := winfile.Rename(d.h, from, to, false); err != nil {
			return errors.Join(err, winfile.Rename(d.h, aside, to, false))
		}
		_ = d.Remove(aside) // deleted when its last reader closes it
		return nil
	})
}

func (d *diskDir) Remove(name string) error {
	return winfile.Remove(d.h, name, windows.FILE_NON_DIRECTORY_FILE)
}

func (d *diskDir) RemoveDir(name string) error {
	return winfile.Remove(d.h, name, windows.FILE_DIRECTORY_FILE)
}

func (d *diskDir) Close() error { return windows.CloseHandle(d.h) }

// Sync does nothing: NTFS journals folder entries.
func (d *diskDir) Sync() error { return nil }

// Names returns up to limit entries, unordered.
func (d *diskDir) Names(limit int) ([]string, error) { return winfile.Names(d.h, limit) }

type diskFile struct{ *os.File }

func newFile(h windows.Handle, name string) *diskFile { return &diskFile{os.NewFile(uintptr(h), name)} }

func (f *diskFile) handle() windows.Handle { return windows.Handle(f.Fd()) }

// CopyFrom copies through a buffer.
func (f *diskFile) CopyFrom(src File, off, n int64) error {
	if n == 0 {
		return nil
	}
	return bufferCopy(f, src, off, n)
}

func (f *diskFile) Info() (Info, error) { return infoOf(f.handle()) }

// Keep copies the older file's attributes and access list. A file system without lists must not
// prevent a write.
func (f *diskFile) Keep(_ Info, from File) error {
	src, ok := from.(*diskFile)
	if !ok {
		return nil
	}
	winfile.KeepAccess(f.handle(), src.handle())
	old, err := winfile.Basic(src.handle())
	if err != nil {
		return err
	}
	now := winfile.BasicInfo{Attributes: old.Attributes &^ (windows.FILE_ATTRIBUTE_REPARSE_POINT | windows.FILE_ATTRIBUTE_READONLY)}
	return windows.SetFileInformationByHandle(f.handle(), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&now)), uint32(unsafe.Sizeof(now)))
}

func infoOf(h windows.Handle) (Info, error) {
	s, err := winfile.Of(h)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(s), nil
}

// infoFrom converts winfile.Stat. The only permission bit is read-only.
func infoFrom(s winfile.Stat) Info {
	info := Info{Mode: 0o644, Links: s.Links, Stamp: Stamp{Dev: s.Dev, Ino: s.Ino, Size: s.Size, Mtime: s.Mtime, Ctime: s.Ctime}}
	switch {
	case s.Kind == winfile.Link:
		info.Mode |= fs.ModeSymlink
	case s.Kind == winfile.Device:
		info.Mode |= fs.ModeDevice
	case s.Kind == winfile.Folder:
		info.Mode |= fs.ModeDir | 0o111
	case s.Attributes&windows.FILE_ATTRIBUTE_READONLY != 0:
		info.Mode &^= 0o222
	}
	return info
}

func lstat(path string) (Info, error) {
	text, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Info{}, err
	}
	h, err := windows.CreateFile(text, windows.FILE_READ_ATTRIBUTES, winfile.ShareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	defer windows.CloseHandle(h)
	return infoOf(h)
}

// dirOf fails: this system has no staging.
func dirOf(*os.File) (Dir, error) { return nil, ErrUnstaged }

func byDescriptor(f *os.File) string { return f.Name() }
