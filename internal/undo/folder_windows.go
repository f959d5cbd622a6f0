package undo

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/winfile"
)

func (f folder) handle() windows.Handle { return windows.Handle(f.fd) }

const folderKind, fileKind = windows.FILE_DIRECTORY_FILE, windows.FILE_NON_DIRECTORY_FILE

func openRoot(path string) (folder, error) {
	h, err := winfile.Open(0, winfile.Absolute(path), winfile.FolderAccess, windows.FILE_OPEN, folderKind)
	return folder{fd: int(h)}, pathError("open", path, err)
}

func (f folder) openFolder(name string) (folder, error) {
	if name == "." {
		h, err := winfile.Duplicate(f.handle())
		return folder{fd: int(h)}, err
	}
	h, err := winfile.Open(f.handle(), name, winfile.FolderAccess, windows.FILE_OPEN, folderKind)
	return folder{fd: int(h)}, pathError("open", name, err)
}

func (f folder) close() { _ = windows.CloseHandle(f.handle()) }

// rewind does nothing: read starts at the first entry.
func (f folder) rewind() error { return nil }

// names is empty: read needs no buffer here.
type names struct{}

func (f folder) read(*names) ([]string, error) { return winfile.Names(f.handle(), 0) }

func statFrom(s winfile.Stat) stat {
	out := stat{size: s.Size, mtime: s.Mtime, ctime: s.Ctime, inode: inode{s.Dev, s.Ino}, links: s.Links}
	switch s.Kind {
	case winfile.Folder:
		out.mode, out.size, out.links = typeFolder|0o700, 0, 1
	case winfile.Link:
		out.mode = typeLink | 0o700
	case winfile.File:
		out.mode = typeFile | 0o600
		if s.Attributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
			out.mode = typeFile | 0o400
		}
	}
	return out
}

func (f folder) stat(name string) (stat, error) {
	if name == "." {
		s, err := winfile.Of(f.handle())
		return statFrom(s), err
	}
	s, err := winfile.StatAt(f.handle(), name)
	if err != nil {
		return stat{}, pathError("stat", name, err)
	}
	return statFrom(s), nil
}

func statPath(path string) (stat, error) {
	s, err := winfile.StatAt(0, winfile.Absolute(path))
	if err != nil {
		return stat{}, pathError("stat", path, err)
	}
	return statFrom(s), nil
}

func statOpen(f *os.File) (stat, error) {
	s, err := winfile.Of(windows.Handle(f.Fd()))
	return statFrom(s), err
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}

// path returns an entry's current path. Only links need it: they have no call that takes a handle.
func (f folder) path(name string) (string, error) {
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetFinalPathNameByHandle(f.handle(), &buf[0], uint32(len(buf)), 0)
	if err != nil {
		return "", err
	}
	return windows.UTF16ToString(buf[:n]) + `\` + name, nil
}

func (f folder) readLink(name string) string {
	path, err := f.path(name)
	if err != nil {
		return ""
	}
	target, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return target
}

func (f folder) openFile(name string) (*os.File, error) {
	h, err := winfile.Open(f.handle(), name, windows.FILE_GENERIC_READ, windows.FILE_OPEN, fileKind)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return os.NewFile(uintptr(h), name), nil
}

// space returns the disk's free bytes for a user and its total bytes.
func space(path string) (free, total int64, err error) {
	text, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	var most, all uint64
	if err := windows.GetDiskFreeSpaceEx(text, &most, &all, nil); err != nil {
		return 0, 0, fmt.Errorf("look at the space of the disk: %w", err)
	}
	return int64(most), int64(all), nil
}

// keptAttributes are the attributes stored in a state.
const keptAttributes = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM

// attrsOf encodes the hidden and system attributes of an open file or folder.
func attrsOf(fd int) (attrs string) {
	basic, err := winfile.Basic(windows.Handle(fd))
	if err != nil {
		return ""
	}
	if basic.Attributes&windows.FILE_ATTRIBUTE_HIDDEN != 0 {
		attrs += "hidden "
	}
	if basic.Attributes&windows.FILE_ATTRIBUTE_SYSTEM != 0 {
		attrs += "system "
	}
	return attrs
}

// setAttributes sets an open entry's mode and stored attributes and leaves the others.
func setAttributes(h windows.Handle, mode uint32, attrs string) error {
	basic, err := winfile.Basic(h)
	if err != nil {
		return err
	}
	want := basic.Attributes &^ (keptAttributes | windows.FILE_ATTRIBUTE_READONLY | windows.FILE_ATTRIBUTE_NORMAL)
	if mode&0o200 == 0 {
		want |= windows.FILE_ATTRIBUTE_READONLY
	}
	if strings.Contains(attrs, "hidden") {
		want |= windows.FILE_ATTRIBUTE_HIDDEN
	}
	if strings.Contains(attrs, "system") {
		want |= windows.FILE_ATTRIBUTE_SYSTEM
	}
	if want == 0 {
		want = windows.FILE_ATTRIBUTE_NORMAL // 0 would leave them unchanged
	}
	if want == basic.Attributes {
		return nil
	}
	set := winfile.BasicInfo{Attributes: want}
	return windows.SetFileInformationByHandle(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&set)), uint32(unsafe.Sizeof(set)))
}
