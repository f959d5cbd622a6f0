package overlay

import "golang.org/x/sys/unix"

// renameFree gives an entry another name, where nothing has it.
func renameFree(fromAt int, from string, toAt int, to string) error {
	return unix.Renameat2(fromAt, from, toAt, to, unix.RENAME_NOREPLACE)
}

// exchange has two entries change places.
func exchange(aAt int, a string, bAt int, b string) error {
	return unix.Renameat2(aAt, a, bAt, b, unix.RENAME_EXCHANGE)
}

// rename gives an entry of ours another name.
func rename(from, to string) error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0) }
