package run

import (
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// room is how much and how many files can still be written below a folder. Their number has no
// limit here.
func room(dir string) (free, files uint64, err error) {
	at, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(at, &free, nil, nil)
	return free, math.MaxUint64, err
}

// mayWrite is an error where a path is read-only, or nothing is there. Access lists are not looked
// at: who opens it finds out.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = fs.ErrPermission
	}
	return err
}
