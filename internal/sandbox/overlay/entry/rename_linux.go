package entry

import "golang.org/x/sys/unix"

// RenameFree renames an entry and fails if the new name exists.
func RenameFree(fromAt int, from string, toAt int, to string) error {
	return unix.Renameat2(fromAt, from, toAt, to, unix.RENAME_NOREPLACE)
}

// Exchange swaps two entries.
func Exchange(aAt int, a string, bAt int, b string) error {
	return unix.Renameat2(aAt, a, bAt, b, unix.RENAME_EXCHANGE)
}

// Rename renames an entry in the view.
func Rename(from, to string) error { return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, 0) }
