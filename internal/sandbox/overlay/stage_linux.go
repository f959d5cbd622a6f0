package overlay

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/filelock"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

// stageName is a file that marks a stage, a view that outlives its process. Recover keeps a stage
// unless its changes were being applied.
const stageName = "stage"

// MakeStage makes a view that lasts until it is closed, beyond its process. home and roots are as
// for Make; name must begin with "view-".
func MakeStage(home, name string, roots []apply.Root) (*View, error) {
	if filepath.Base(name) != name || !strings.HasPrefix(name, "view-") {
		return nil, fs.ErrInvalid
	}
	v, err := makeView(home, roots, func() (string, error) {
		dir := filepath.Join(home, name)
		return dir, os.Mkdir(dir, 0o700)
	})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(apply.Journal{Roots: v.Roots, Since: v.ViewTime})
	if err == nil {
		err = os.WriteFile(filepath.Join(v.Dir, stageName), data, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// OpenStage reopens a stage made by MakeStage.
func OpenStage(home, name string) (_ *View, err error) {
	if filepath.Base(name) != name || !strings.HasPrefix(name, "view-") {
		return nil, fs.ErrNotExist
	}
	v := &View{Locations: apply.Locations{Dir: filepath.Join(home, name), Home: home}}
	data, err := os.ReadFile(filepath.Join(v.Dir, stageName))
	if err != nil {
		return nil, err
	}
	var note apply.Journal
	if err := json.Unmarshal(data, &note); err != nil {
		return nil, &fs.PathError{Op: "read", Path: filepath.Join(v.Dir, stageName), Err: err}
	}
	v.Roots, v.ViewTime = note.Roots, note.Since
	defer func() {
		if err != nil {
			v.release()
		}
	}()
	if v.lock, err = os.OpenFile(filepath.Join(v.Dir, apply.LockName), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if filelock.TryFile(v.lock) != nil {
		return nil, ErrInUse
	}
	if err := v.OpenRoots(); err != nil {
		return nil, err
	}
	return v, nil
}

// DropStage removes a stage with its pending changes, even if its roots are gone. It returns
// ErrInUse for one in use or being applied.
func DropStage(home, name string) error {
	dir := filepath.Join(home, name)
	lock, err := os.OpenFile(filepath.Join(dir, apply.LockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	v := &View{Locations: apply.Locations{Dir: dir, Home: home}, lock: lock}
	defer v.release()
	if filelock.TryFile(lock) != nil {
		return ErrInUse
	}
	if _, err := os.Lstat(filepath.Join(dir, apply.JournalName)); err == nil {
		return ErrInUse // Recover finishes and removes it
	}
	return v.remove()
}

// Name returns the stage's name in its home.
func (v *View) Name() string { return filepath.Base(v.Dir) }

// Fresh recreates a stage's work folders, because the kernel rejects those of a killed mount. The
// stage must not be mounted.
func (v *View) Fresh() error {
	for i := range v.Roots {
		work := filepath.Join(v.Folder(i), "work")
		if err := errors.Join(entry.RemoveAll(work), os.Mkdir(work, 0o700)); err != nil {
			return err
		}
	}
	now := time.Now()
	return os.Chtimes(filepath.Join(v.Dir, stageName), now, now) // marks it as used; see isStage
}

// Leave syncs and releases a stage, which stays on disk.
func (v *View) Leave() error {
	var err error
	for _, dir := range v.shut {
		if e := unix.Chmod(v.Place(dir), dir.Upper.Mode&0o7777); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	v.shut = nil
	if f, e := os.Open(v.Dir); e == nil {
		err = errors.Join(err, unix.Syncfs(int(f.Fd())), f.Close())
	}
	v.release()
	return err
}

// isStage reports whether dir is a stage with pending changes. Like other changes not applied, they
// expire after keptTime.
func isStage(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, stageName))
	return err == nil && time.Since(info.ModTime()) < keptTime
}
