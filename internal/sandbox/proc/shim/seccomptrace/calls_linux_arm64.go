package seccomptrace

import "syscall"

const (
	sysRenameat2     = 276
	sysProcessVMRead = 270
	sysStatx         = 291
)

// renaming says for each call that renames which arguments hold its paths: a folder's descriptor
// and a path relative to it.
func renaming() map[uint32][4]int {
	return map[uint32][4]int{syscall.SYS_RENAMEAT: {0, 1, 2, 3}, sysRenameat2: {0, 1, 2, 3}}
}
