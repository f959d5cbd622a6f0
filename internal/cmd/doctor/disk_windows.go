package doctor

import "golang.org/x/sys/windows"

// freeSpace is what the user may still write below a folder, in bytes.
func freeSpace(dir string) (free uint64, err error) {
	at, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(at, &free, nil, nil)
	return free, err
}

// terminalOfSystem is the name of a terminal that says none: they are all consoles.
const terminalOfSystem = "console"
