package entry

import "golang.org/x/sys/unix"

// RenameFree gives an entry another name, where nothing has it.
func RenameFree(fromAt int, from string, toAt int, to string) error {
	return unix.Renameat2(fromAt, from, toAt, to, unix.RENAME_NOREPLACE)
}

// Exchange has two entries change places.
func Exchange(aAt int, a string, bAt int, b string) error {
	return unix.Renameat2(aAt, a, bAt, b, unix.RENAME_EXCHANGE)
}

// Rename gives an entry of ours another name.
func Rename(from, to string) error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0) }
