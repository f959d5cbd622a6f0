package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// open shares the file fully, so that its holder can remove it.
func open(path string) (*os.File, error) {
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// UnlockFile unlocks a file locked by TryFile, which stays open.
func UnlockFile(f *os.File) error {
	at := locked()
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// locked returns the byte to lock, far past the content, which stays accessible: Windows locks
// block access to the locked bytes.
func locked() windows.Overlapped { return windows.Overlapped{OffsetHigh: 1 << 30} }

func lock(f *os.File, shared bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := locked()
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
