package sessiondb

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// File systems without a constant in golang.org/x/sys/unix (statfs(2), linux/magic.h and the file
// systems' own sources).
const (
	magicCIFS   = 0xFF534D42
	magicLustre = 0x0BD00BD0
	magicGPFS   = 0x47504653
	magicGFS2   = 0x01161970
	magicVboxsf = 0x786F4256
)

// onNetwork reports whether other machines may write to path's file system. The write-ahead log
// needs memory shared by all its users, which such file systems lack. FUSE counts, because of
// sshfs.
func onNetwork(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(filepath.Dir(path), &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC, unix.AFS_SUPER_MAGIC,
		unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC,
		magicCIFS, magicLustre, magicGPFS, magicGFS2, magicVboxsf:
		return true
	}
	return false
}
