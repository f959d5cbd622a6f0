package proc

import (
	"cmp"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Processes lists this user's accessible processes by id, without arguments, state and processor
// time.
func Processes() ([]Info, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	var list []Info
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		command := imagePath(entry.ProcessID)
		if command == "" {
			continue // another user's, or ended
		}
		list = append(list, Info{PID: int(entry.ProcessID), Parent: int(entry.ParentProcessID), State: "R", Command: command})
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.PID, b.PID) })
	return list, nil
}
