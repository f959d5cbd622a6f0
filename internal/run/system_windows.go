package run

import (
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// room returns the free bytes of dir's file system. The number of files is unlimited.
func room(dir string) (free, files uint64, err error) {
	at, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(at, &free, nil, nil)
	return free, math.MaxUint64, err
}

// mayWrite returns an error if path is read-only or does not exist. It ignores access lists;
// opening the file reports them.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = fs.ErrPermission
	}
	return err
}
