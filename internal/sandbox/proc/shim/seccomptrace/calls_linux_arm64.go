package seccomptrace

import "syscall"

const (
	sysRenameat2     = 276
	sysProcessVMRead = 270
	sysStatx         = 291
)

// renaming returns the indexes of each rename call's path arguments: a folder descriptor and a path
// relative to it.
func renaming() map[uint32][4]int {
	return map[uint32][4]int{syscall.SYS_RENAMEAT: {0, 1, 2, 3}, sysRenameat2: {0, 1, 2, 3}}
}
