package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

func openNew(name string) (*os.File, error) { return open(name, windows.CREATE_NEW) }

func openOld(name string) (*os.File, error) { return open(name, windows.OPEN_EXISTING) }

// open shares the file fully, so that it can be renamed and removed while open.
func open(name string, how uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, how, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// heldTime bounds the wait for another reader: a virus scanner reads a new file for some
// milliseconds.
const heldTime = time.Second

// rename replaces a file, waiting for its readers.
func rename(from, to string) error {
	end := time.Now().Add(heldTime)
	for wait := 2 * time.Millisecond; ; wait *= 2 {
		err := os.Rename(from, to)
		held := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !held || time.Now().Add(wait).After(end) {
			return err
		}
		time.Sleep(wait)
	}
}

// SyncFolder does nothing: NTFS journals folder entries.
func SyncFolder(dir string) error {
	_, err := os.Stat(dir)
	return err
}
