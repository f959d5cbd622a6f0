//go:build unix

package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// noFollow refuses a symbolic link as a lock file.
const noFollow = unix.O_NOFOLLOW

// RuntimeDir returns the folder for this user's short-lived files: below XDG_RUNTIME_DIR, else
// /run/user/UID, else the temporary folder.
func RuntimeDir() string {
	own := fmt.Sprintf("/run/user/%d", os.Getuid())
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), own} {
		if filepath.IsAbs(dir) && private(dir) == nil {
			return filepath.Join(dir, "adze")
		}
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("adze-%d", os.Getuid()))
}

// ownFolder creates dir and its parent for this user alone. In a shared temporary folder another
// user may have created them first.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Error{Code: IO, Message: fmt.Sprintf("lock folder %s: %v", dir, cause(err)), Err: err}
	}
	if err := private(dir); err != nil {
		return err
	}
	above, err := lstat(filepath.Dir(dir))
	if err == nil && above.Mode&fs.ModeSticky == 0 {
		return private(filepath.Dir(dir))
	}
	return err
}

// private returns an error unless only this user can change dir.
func private(dir string) error {
	info, err := lstat(dir)
	if err != nil {
		return err
	}
	if !info.Mode.IsDir() || int(info.UID) != os.Getuid() || info.Mode.Perm()&0o022 != 0 {
		return fail(IO, "%s must be a folder of yours that others cannot write to; remove it", dir)
	}
	return nil
}
