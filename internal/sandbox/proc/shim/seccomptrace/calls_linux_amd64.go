package seccomptrace

import "syscall"

const (
	sysRenameat2     = 316
	sysProcessVMRead = 310
	sysStatx         = 332
)

// renaming returns the indexes of each rename call's path arguments: a folder descriptor, or -1 if
// it has none, and a path relative to it.
func renaming() map[uint32][4]int {
	return map[uint32][4]int{syscall.SYS_RENAME: {-1, 0, -1, 1}, syscall.SYS_RENAMEAT: {0, 1, 2, 3}, sysRenameat2: {0, 1, 2, 3}}
}
