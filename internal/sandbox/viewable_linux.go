package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unviewable returns why an overlay cannot show the folders as they are, or "". Reasons are another
// file system mounted inside, owners unknown in the command's namespace (the kernel refuses to copy
// such files), and file systems with another machine's clock.
func unviewable(paths []string, everybody bool) string {
	mounts := readKernel("/proc/self/mountinfo")
	for _, path := range paths {
		var fs unix.Statfs_t
		if err := unix.Statfs(path, &fs); err != nil || !slices.Contains(localFileSystems(), int64(fs.Type)) { //nolint:unconvert // other sizes elsewhere
			return "it is on a file system that cannot be seen through a view"
		}
		if !everybody && ownedByOthers(path) {
			return "files of git belong to users or groups that the sandbox does not know"
		}
		if mountedIn(mounts, path) {
			return "another file system is mounted in it"
		}
	}
	return ""
}

// localFileSystems lists file systems with this machine's clock, accepted by overlays as lower
// folders.
func localFileSystems() []int64 {
	return []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1, 0xca451a4e, unix.OVERLAYFS_SUPER_MAGIC}
}

// ownedByOthers checks a folder and the repository in it.
func ownedByOthers(path string) bool {
	for _, at := range []string{path, filepath.Join(path, "index"), filepath.Join(path, ".git"), filepath.Join(path, ".git", "index")} {
		var st unix.Stat_t
		if unix.Lstat(at, &st) == nil && strange(st.Uid, st.Gid) {
			return true
		}
	}
	return false
}

// mountedIn reports whether there is a mount below dir.
func mountedIn(mounts, dir string) bool {
	unquote := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) > 4 && strings.HasPrefix(unquote.Replace(f[4]), dir+"/") {
			return true
		}
	}
	return false
}
