package winfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	// FolderAccess allows listing and opening a folder's entries.
	FolderAccess = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | windows.FILE_READ_ATTRIBUTES | windows.SYNCHRONIZE
	// ShareAll lets other programs do anything with an open file.
	ShareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

	fileRenameInformationEx = 65

	// heldTime bounds the retries for a file held by another program without sharing: a virus
	// scanner or indexer opens a new file for some milliseconds.
	heldTime = time.Second
)

// Patiently retries do while another program holds the file, for at most heldTime.
func Patiently(do func() error) error {
	end := time.Now().Add(heldTime)
	for wait := 5 * time.Millisecond; ; wait *= 2 {
		err := do()
		if !InUse(err) || time.Now().Add(wait).After(end) {
			return err
		}
		time.Sleep(wait)
	}
}

// InUse reports whether err means that another program holds the file open without sharing.
func InUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_DELETE_PENDING)
}

// Open opens a name in a folder, or a full path without a folder. It follows no link or junction.
// Other reparse points, such as cloud files not yet fetched, open as the files they stand for.
func Open(dir windows.Handle, name string, access, disposition, options uint32) (h windows.Handle, err error) {
	err = Patiently(func() error {
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

// OpenVolume opens the root of a drive or share, such as `C:\`.
func OpenVolume(name string) (windows.Handle, error) {
	return openRaw(0, Absolute(name), FolderAccess, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
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
	err = windows.NtCreateFile(&h, access, &attributes, &status, nil, windows.FILE_ATTRIBUTE_NORMAL, ShareAll, disposition,
		options|windows.FILE_SYNCHRONOUS_IO_NONALERT|windows.FILE_OPEN_FOR_BACKUP_INTENT, 0, 0)
	return h, plainError(err)
}

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

func reparseTag(h windows.Handle) (tag uint32, is bool) {
	var info struct{ Attributes, Tag uint32 }
	err := windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return info.Tag, err == nil && info.Attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
}

// surrogate reports tags that stand for another name: links and junctions.
func surrogate(tag uint32) bool { return tag&0x20000000 != 0 }

// Rename renames an entry within a folder. With replace it replaces an existing file, otherwise
// that is an error.
func Rename(dir windows.Handle, from, to string, replace bool) error {
	h, err := openItself(dir, from, windows.DELETE|windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	flags := uint32(windows.FILE_RENAME_POSIX_SEMANTICS)
	if replace {
		flags |= windows.FILE_RENAME_REPLACE_IF_EXISTS
	}
	err = setName(h, dir, to, fileRenameInformationEx, flags)
	if unknownCall(err) {
		err = setName(h, dir, to, windows.FileRenameInformation, flags&windows.FILE_RENAME_REPLACE_IF_EXISTS)
	}
	return plainError(err)
}

// unknownCall reports whether the system or file system lacks a newer call.
func unknownCall(err error) bool {
	for _, status := range []windows.NTStatus{windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_INVALID_PARAMETER, windows.STATUS_NOT_SUPPORTED,
		windows.STATUS_NOT_IMPLEMENTED, windows.STATUS_INVALID_DEVICE_REQUEST} {
		if errors.Is(err, status) {
			return true
		}
	}
	return false
}

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
	words := make([]uint64, (int(at)+2*len(name)+7)/8+1) // aligned like the structure
	buf := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	head.Flags, head.Root, head.Length = flags, dir, uint32(2*len(name))
	copy(buf, unsafe.Slice((*byte)(unsafe.Pointer(&head)), at))
	copy(buf[at:], unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(name))), 2*len(name)))
	var status windows.IO_STATUS_BLOCK
	return windows.NtSetInformationFile(h, &status, &buf[0], uint32(max(int(at)+2*len(name), int(unsafe.Sizeof(head)))), class)
}

// Remove removes a file (windows.FILE_NON_DIRECTORY_FILE) or an empty folder
// (windows.FILE_DIRECTORY_FILE). For a link it removes the link.
func Remove(dir windows.Handle, name string, kind uint32) error {
	h, err := openItself(dir, name, windows.DELETE|windows.SYNCHRONIZE, kind)
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

// openItself opens an entry, which may be a link.
func openItself(dir windows.Handle, name string, access, kind uint32) (h windows.Handle, err error) {
	err = Patiently(func() error {
		h, err = openRaw(dir, name, access, windows.FILE_OPEN, kind|windows.FILE_OPEN_REPARSE_POINT)
		return err
	})
	return h, err
}

// Names returns up to limit entries in a folder, unordered; all if limit is 0 or less.
func Names(dir windows.Handle, limit int) ([]string, error) {
	h, err := Duplicate(dir)
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

// KeepAccess copies the access list of a file with its own entries. Other files inherit theirs from
// the folder, as the new file does.
func KeepAccess(to, from windows.Handle) {
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

// BasicInfo is FILE_BASIC_INFO. Times are in units of 100 ns since 1601; 0 leaves one unchanged.
type BasicInfo struct {
	Created, Accessed, Written, Changed int64
	Attributes                          uint32
	_                                   uint32
}

// Basic returns an open file's BasicInfo.
func Basic(h windows.Handle) (b BasicInfo, err error) {
	err = windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&b)), uint32(unsafe.Sizeof(b)))
	return b, err
}

// Stat is an open file's or folder's metadata.
type Stat struct {
	Kind         Kind
	Attributes   uint32
	Dev, Ino     uint64
	Links        uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
}

// Kind is a file type.
type Kind int

// The kinds.
const (
	File Kind = iota
	Folder
	Link // or a similar entry, such as a junction
	Device
)

// Of returns the Stat for an open handle.
func Of(h windows.Handle) (Stat, error) {
	var by windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &by); err != nil {
		return Stat{}, err
	}
	basic, err := Basic(h)
	if err != nil {
		return Stat{}, err
	}
	s := Stat{Attributes: by.FileAttributes, Links: uint64(by.NumberOfLinks),
		Dev: uint64(by.VolumeSerialNumber), Ino: uint64(by.FileIndexHigh)<<32 | uint64(by.FileIndexLow),
		Size:  int64(by.FileSizeHigh)<<32 | int64(by.FileSizeLow),
		Mtime: nanoseconds(basic.Written), Ctime: nanoseconds(basic.Changed)}
	tag, reparse := reparseTag(h)
	kind, err := windows.GetFileType(h)
	switch {
	case err == nil && kind != windows.FILE_TYPE_DISK:
		s.Kind = Device
	case reparse && surrogate(tag):
		s.Kind = Link
	case by.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		s.Kind = Folder
	}
	return s, nil
}

// StatAt returns the Stat for a name in a folder.
func StatAt(dir windows.Handle, name string) (Stat, error) {
	h, err := Open(dir, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, windows.FILE_OPEN, 0)
	if err != nil {
		return Stat{}, err
	}
	defer windows.CloseHandle(h)
	return Of(h)
}

// Absolute converts an absolute path for Open without a folder.
func Absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\?\`); ok {
		return `\??\` + rest
	}
	if rest, ok := strings.CutPrefix(path, `\\`); ok {
		return `\??\UNC\` + rest
	}
	return `\??\` + filepath.FromSlash(path)
}

func nanoseconds(ticks int64) int64 {
	const since1601 = 116444736000000000
	return (ticks - since1601) * 100
}

// Duplicate returns a second handle for h's file.
func Duplicate(h windows.Handle) (twin windows.Handle, err error) {
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, h, self, &twin, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return twin, err
}
