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

// open shares the file with everybody, so that it can be renamed and removed while it is open.
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

// heldTime bounds how long a file is waited for that another program reads: a virus scanner looks
// at a new file for some milliseconds.
const heldTime = time.Second

// rename replaces a file. One that somebody reads cannot be replaced as long as that lasts.
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

// SyncFolder has nothing to do: NTFS keeps the names in folders in its journal.
func SyncFolder(dir string) error {
	_, err := os.Stat(dir)
	return err
}
