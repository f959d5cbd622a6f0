package sessiondb

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Magic numbers of file systems that golang.org/x/sys/unix has no name for (statfs(2),
// linux/magic.h and the file systems' own sources).
const (
	magicCIFS   = 0xFF534D42
	magicLustre = 0x0BD00BD0
	magicGPFS   = 0x47504653
	magicGFS2   = 0x01161970
	magicVboxsf = 0x786F4256
)

// onNetwork reports whether path lies where other machines may write too. The write-ahead log needs
// memory shared by all who have the file open, which no such file system gives. FUSE counts: sshfs
// is one.
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
