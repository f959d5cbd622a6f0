package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unviewable says why no overlay shows folders as they are. It is empty where it does. It does not
// where another file system is mounted in one, where entries belong to users or groups that the
// command's namespace does not know (the kernel refuses to copy such a file), or where clocks of
// other machines decide what is newer.
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

// localFileSystems are those whose times are this machine's, and that overlays take for their lower
// folder.
func localFileSystems() []int64 {
	return []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1, 0xca451a4e, unix.OVERLAYFS_SUPER_MAGIC}
}

// ownedByOthers looks at a folder and the repository in it.
func ownedByOthers(path string) bool {
	for _, at := range []string{path, filepath.Join(path, "index"), filepath.Join(path, ".git"), filepath.Join(path, ".git", "index")} {
		var st unix.Stat_t
		if unix.Lstat(at, &st) == nil && strange(st.Uid, st.Gid) {
			return true
		}
	}
	return false
}

// mountedIn reports a mount below a folder.
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
