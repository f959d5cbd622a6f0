package undo

import "golang.org/x/sys/unix"

// exchange swaps two names in one step.
func (f folder) exchange(a, b string, _ func()) error {
	return unix.Renameat2(f.fd, a, f.fd, b, unix.RENAME_EXCHANGE)
}

// move renames; it fails when the new name is taken.
func (f folder) move(from, to string) error {
	return unix.Renameat2(f.fd, from, f.fd, to, unix.RENAME_NOREPLACE)
}

// syncAll writes everything of the folder's file system to the disk.
func (f folder) syncAll() error { return unix.Syncfs(f.fd) }
