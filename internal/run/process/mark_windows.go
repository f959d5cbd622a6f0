package process

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// mark returns a file's identity and state to detect changes.
func mark(path string) string {
	at, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err.Error()
	}
	h, err := windows.CreateFile(at, windows.FILE_READ_ATTRIBUTES, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err.Error()
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return err.Error()
	}
	return fmt.Sprint(info)
}
