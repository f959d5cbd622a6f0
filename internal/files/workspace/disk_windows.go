package workspace

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Disk is the FS of the operating system.
type Disk struct{}

// OpenDir opens what holds the drives and shares.
func (Disk) OpenDir() (Dir, error) { return volumes{}, nil }

// volumes is the folder above all drives and shares, which Windows does not have.
type volumes struct{}

// OpenDir opens the top folder of a drive or share: C:\, \\server\share\.
func (volumes) OpenDir(name string) (Dir, error) {
	at := `\??\` + name
	if rest, ok := strings.CutPrefix(name, `\\`); ok {
		at = `\??\UNC\` + rest
	}
	h, err := openRaw(0, at, folderAccess, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
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

const (
	folderAccess = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | windows.FILE_READ_ATTRIBUTES | windows.SYNCHRONIZE
	shareAll     = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

	fileRenameInformationEx = 65

	// heldTime bounds how long a file is asked for that another program holds without sharing it: a
	// virus scanner or an indexer looks at a new file for some milliseconds.
	heldTime = time.Second
)

// patiently repeats what fails because another program holds the file, for heldTime at most.
func patiently(do func() error) error {
	end := time.Now().Add(heldTime)
	for wait := 5 * time.Millisecond; ; wait *= 2 {
		err := do()
		if !inUse(err) || time.Now().Add(wait).After(end) {
			return err
		}
		time.Sleep(wait)
	}
}

// inUse reports a file that another program holds open without sharing it.
func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_DELETE_PENDING)
}

// open opens one name in a folder, or a whole name without one. It follows no link and no junction.
// Other reparse points, such as files that a cloud service has not fetched yet, are opened as the
// files that they stand for.
func open(dir windows.Handle, name string, access, disposition, options uint32) (h windows.Handle, err error) {
	err = patiently(func() error {
		h, err = openRaw(dir, name, access, disposition, options|windows.FILE_OPEN_REPARSE_POINT)
		return err
	})
	if err != nil || disposition == windows.FILE_CREATE || access == windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE {
		return h, err
	}
	tag, is := reparseTag(h)
	if !is {
		return h, nil
	}
	_ = windows.CloseHandle(h)
	if surrogate(tag) {
		return windows.InvalidHandle, syscall.ELOOP
	}
	return openRaw(dir, name, access, disposition, options)
}

func openRaw(dir windows.Handle, name string, access, disposition, options uint32) (windows.Handle, error) {
	attributes := windows.OBJECT_ATTRIBUTES{RootDirectory: dir, Attributes: windows.OBJ_CASE_INSENSITIVE}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	text, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return windows.InvalidHandle, err
	}
	attributes.ObjectName = text
	var h windows.Handle
	var status windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&h, access, &attributes, &status, nil, windows.FILE_ATTRIBUTE_NORMAL, shareAll, disposition,
		options|windows.FILE_SYNCHRONOUS_IO_NONALERT|windows.FILE_OPEN_FOR_BACKUP_INTENT, 0, 0)
	return h, plainError(err)
}

// plainError is an error of the kernel as the rest of this program knows it.
func plainError(err error) error {
	var status windows.NTStatus
	if !errors.As(err, &status) {
		return err
	}
	switch status {
	case windows.STATUS_NOT_A_DIRECTORY:
		return syscall.ENOTDIR
	case windows.STATUS_DELETE_PENDING:
		return windows.ERROR_DELETE_PENDING
	case windows.STATUS_DISK_FULL:
		return syscall.ENOSPC
	case windows.STATUS_NAME_TOO_LONG:
		return syscall.ENAMETOOLONG
	case windows.STATUS_REPARSE_POINT_ENCOUNTERED:
		return syscall.ELOOP
	}
	return status.Errno()
}

// reparseTag says of what kind a reparse point is.
func reparseTag(h windows.Handle) (tag uint32, is bool) {
	var info struct{ Attributes, Tag uint32 }
	err := windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return info.Tag, err == nil && info.Attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
}

// surrogate reports a tag that stands for another name: links and junctions.
func surrogate(tag uint32) bool { return tag&0x20000000 != 0 }

type diskDir struct{ h windows.Handle }

func (d *diskDir) OpenDir(name string) (Dir, error) {
	if name == "." {
		h, err := duplicate(d.h)
		return &diskDir{h}, err
	}
	h, err := open(d.h, name, folderAccess, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return &diskDir{h}, nil
}

func duplicate(h windows.Handle) (twin windows.Handle, err error) {
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, h, self, &twin, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return twin, err
}

func (d *diskDir) Open(name string) (File, error) {
	h, err := open(d.h, name, windows.FILE_GENERIC_READ, windows.FILE_OPEN, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return newFile(h, name), nil
}

func (d *diskDir) Create(name string, _ fs.FileMode) (File, error) {
	access := uint32(windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.DELETE | windows.WRITE_DAC)
	h, err := open(d.h, name, access, windows.FILE_CREATE, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, err
	}
	return newFile(h, name), nil
}

func (d *diskDir) Lstat(name string) (Info, error) {
	h, err := open(d.h, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_OPEN, 0)
	if err != nil {
		return Info{}, err
	}
	defer windows.CloseHandle(h)
	return infoOf(h)
}

func (d *diskDir) Info() (Info, error) { return infoOf(d.h) }

func (d *diskDir) Mkdir(name string) error {
	h, err := open(d.h, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_CREATE, windows.FILE_DIRECTORY_FILE)
	if err == nil {
		err = windows.CloseHandle(h)
	}
	return err
}

// Rename takes the semantics of POSIX where the file system has them: a file that is open can be
// replaced. Where it has not (FAT, some shares) an open file is moved aside first, which leaves a
// moment without it.
func (d *diskDir) Rename(from, to string, replace bool) error {
	return patiently(func() error {
		err := d.rename(from, to, replace)
		if !replace || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		aside := tempPrefix + strings.ToLower(rand.Text()) + tempSuffix
		if d.rename(to, aside, false) != nil {
			return err
		}
		if err := d.rename(from, to, false); err != nil {
			return errors.Join(err, d.rename(aside, to, false))
		}
		_ = d.Remove(aside) // it is gone when its last reader closes it
		return nil
	})
}

func (d *diskDir) rename(from, to string, replace bool) error {
	h, err := open(d.h, from, windows.DELETE|windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES, windows.FILE_OPEN, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	flags := uint32(windows.FILE_RENAME_POSIX_SEMANTICS)
	if replace {
		flags |= windows.FILE_RENAME_REPLACE_IF_EXISTS
	}
	err = setName(h, d.h, to, fileRenameInformationEx, flags)
	if unknownCall(err) {
		err = setName(h, d.h, to, windows.FileRenameInformation, flags&windows.FILE_RENAME_REPLACE_IF_EXISTS)
	}
	return plainError(err)
}

// unknownCall reports a system, or file system, that lacks a newer call.
func unknownCall(err error) bool {
	for _, status := range []windows.NTStatus{windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_INVALID_PARAMETER, windows.STATUS_NOT_SUPPORTED,
		windows.STATUS_NOT_IMPLEMENTED, windows.STATUS_INVALID_DEVICE_REQUEST} {
		if errors.Is(err, status) {
			return true
		}
	}
	return false
}

// setName is FILE_RENAME_INFORMATION.
func setName(h, dir windows.Handle, to string, class, flags uint32) error {
	name, err := windows.UTF16FromString(to)
	if err != nil {
		return err
	}
	name = name[:len(name)-1]
	var head struct {
		Flags  uint32
		Root   windows.Handle
		Length uint32
		Name   [1]uint16
	}
	at := unsafe.Offsetof(head.Name)
	words := make([]uint64, (int(at)+2*len(name)+7)/8+1) // aligned as the structure is
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	head.Flags, head.Root, head.Length = flags, dir, uint32(2*len(name))
	copy(buf, unsafe.Slice((*byte)(unsafe.Pointer(&head)), at))
	copy(buf[at:], unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(name))), 2*len(name)))
	var status windows.IO_STATUS_BLOCK
	return windows.NtSetInformationFile(h, &status, &buf[0], uint32(max(int(at)+2*len(name), int(unsafe.Sizeof(head)))), class)
}

func (d *diskDir) Remove(name string) error    { return d.remove(name, windows.FILE_NON_DIRECTORY_FILE) }
func (d *diskDir) RemoveDir(name string) error { return d.remove(name, windows.FILE_DIRECTORY_FILE) }

func (d *diskDir) remove(name string, kind uint32) error {
	h, err := openForRemoval(d.h, name, kind)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var status windows.IO_STATUS_BLOCK
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS)
	err = windows.NtSetInformationFile(h, &status, (*byte)(unsafe.Pointer(&flags)), uint32(unsafe.Sizeof(flags)), windows.FileDispositionInformationEx)
	if unknownCall(err) {
		gone := byte(1)
		err = windows.NtSetInformationFile(h, &status, &gone, 1, windows.FileDispositionInformation)
	}
	return plainError(err)
}

// openForRemoval opens a link itself, which can be removed.
func openForRemoval(dir windows.Handle, name string, kind uint32) (h windows.Handle, err error) {
	err = patiently(func() error {
		h, err = openRaw(dir, name, windows.DELETE|windows.SYNCHRONIZE, windows.FILE_OPEN, kind|windows.FILE_OPEN_REPARSE_POINT)
		return err
	})
	return h, err
}

func (d *diskDir) Close() error { return windows.CloseHandle(d.h) }

// Sync has nothing to do: NTFS keeps the entries of folders in its journal.
func (d *diskDir) Sync() error { return nil }

// Names lists up to limit entries in the folder's own order.
func (d *diskDir) Names(limit int) ([]string, error) {
	h, err := duplicate(d.h)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(h), ".")
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

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

// Keep gives the file the attributes and the access list of an older one. It is best effort for the
// list: a file system without lists must not stop a write.
func (f *diskFile) Keep(_ Info, from File) error {
	src, ok := from.(*diskFile)
	if !ok {
		return nil
	}
	keepAccess(f.handle(), src.handle())
	old, err := basicInfo(src.handle())
	if err != nil {
		return err
	}
	now := fileBasicInfo{Attributes: old.Attributes &^ (windows.FILE_ATTRIBUTE_REPARSE_POINT | windows.FILE_ATTRIBUTE_READONLY)}
	return windows.SetFileInformationByHandle(f.handle(), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&now)), uint32(unsafe.Sizeof(now)))
}

// keepAccess copies the list of a file that has entries of its own; the others inherit theirs from
// the folder, as the new file does.
func keepAccess(to, from windows.Handle) {
	descriptor, err := windows.GetSecurityInfo(from, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return
	}
	list, _, err := descriptor.DACL()
	control, _, err2 := descriptor.Control()
	if err != nil || err2 != nil || list == nil || !ownEntries(list) && control&windows.SE_DACL_PROTECTED == 0 {
		return
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION)
	if control&windows.SE_DACL_PROTECTED != 0 {
		what |= windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	_ = windows.SetSecurityInfo(to, windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
}

func ownEntries(list *windows.ACL) bool {
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &entry) == nil && entry.Header.AceFlags&windows.INHERITED_ACE == 0 {
			return true
		}
	}
	return false
}

// fileBasicInfo is FILE_BASIC_INFO. Times are in units of 100 ns since 1601; 0 leaves one as it is.
type fileBasicInfo struct {
	Created, Accessed, Written, Changed int64
	Attributes                          uint32
	_                                   uint32
}

func basicInfo(h windows.Handle) (b fileBasicInfo, err error) {
	err = windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&b)), uint32(unsafe.Sizeof(b)))
	return b, err
}

// infoOf converts the kernel's answer. There are no permission bits but one that forbids to write.
func infoOf(h windows.Handle) (Info, error) {
	var by windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &by); err != nil {
		return Info{}, err
	}
	basic, err := basicInfo(h)
	if err != nil {
		return Info{}, err
	}
	info := Info{Mode: 0o644, Links: uint64(by.NumberOfLinks), Stamp: Stamp{
		Dev: uint64(by.VolumeSerialNumber), Ino: uint64(by.FileIndexHigh)<<32 | uint64(by.FileIndexLow),
		Size:  int64(by.FileSizeHigh)<<32 | int64(by.FileSizeLow),
		Mtime: nanoseconds(basic.Written), Ctime: nanoseconds(basic.Changed),
	}}
	tag, _ := reparseTag(h)
	switch {
	case by.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 && surrogate(tag):
		info.Mode |= fs.ModeSymlink
	case by.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		info.Mode |= fs.ModeDir | 0o111
	case by.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0:
		info.Mode &^= 0o222
	}
	if kind, err := windows.GetFileType(h); err == nil && kind != windows.FILE_TYPE_DISK {
		info.Mode |= fs.ModeDevice
	}
	return info, nil
}

func nanoseconds(ticks int64) int64 {
	const since1601 = 116444736000000000
	return (ticks - since1601) * 100
}

func lstat(path string) (Info, error) {
	text, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Info{}, err
	}
	h, err := windows.CreateFile(text, windows.FILE_READ_ATTRIBUTES, shareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	defer windows.CloseHandle(h)
	return infoOf(h)
}

// dirOf fails: no folder stands for another on this system.
func dirOf(*os.File) (Dir, error) { return nil, ErrUnstaged }

func byDescriptor(f *os.File) string { return f.Name() }
