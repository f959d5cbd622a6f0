package doctor

import "golang.org/x/sys/windows"

// freeSpace returns the space available to the user below a folder, in bytes.
func freeSpace(dir string) (free uint64, err error) {
	at, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(at, &free, nil, nil)
	return free, err
}

// terminalOfSystem names a terminal without TERM: all are consoles.
const terminalOfSystem = "console"
