package undo

import "golang.org/x/sys/unix"

// exchange swaps two names atomically.
func (f folder) exchange(a, b string, _ func()) error {
	return unix.Renameat2(f.fd, a, f.fd, b, unix.RENAME_EXCHANGE)
}

// move renames an entry. It fails if the new name exists.
func (f folder) move(from, to string) error {
	return unix.Renameat2(f.fd, from, f.fd, to, unix.RENAME_NOREPLACE)
}

func (f folder) syncAll() error { return unix.Syncfs(f.fd) }
