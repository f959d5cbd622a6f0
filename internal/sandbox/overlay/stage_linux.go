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

// stageName is the file of a view that outlives its process: a stage. Recover leaves such a view
// as it is, unless its changes were being applied.
const stageName = "stage"

// stageNote is the content of the file.
type stageNote struct {
	Roots []apply.Root
	Since [2]int64
}

// MakeStage makes a view that lasts until it is closed, also beyond its process. Its folders are
// those of Make, its name begins with "view-".
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
	data, err := json.Marshal(stageNote{v.Roots, v.Since})
	if err == nil {
		err = os.WriteFile(filepath.Join(v.Dir, stageName), data, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// OpenStage goes on with the stage of a name that MakeStage has made.
func OpenStage(home, name string) (_ *View, err error) {
	if filepath.Base(name) != name || !strings.HasPrefix(name, "view-") {
		return nil, fs.ErrNotExist
	}
	v := &View{Ground: apply.Ground{Dir: filepath.Join(home, name), Home: home}}
	data, err := os.ReadFile(filepath.Join(v.Dir, stageName))
	if err != nil {
		return nil, err
	}
	var note stageNote
	if err := json.Unmarshal(data, &note); err != nil {
		return nil, &fs.PathError{Op: "read", Path: filepath.Join(v.Dir, stageName), Err: err}
	}
	v.Roots, v.Since = note.Roots, note.Since
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

// DropStage removes the stage of a name with all that waits in it, whether or not the folders that
// it is of are still there. One whose changes are being applied, or that is in use, stays.
func DropStage(home, name string) error {
	dir := filepath.Join(home, name)
	lock, err := os.OpenFile(filepath.Join(dir, apply.LockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	v := &View{Ground: apply.Ground{Dir: dir, Home: home}, lock: lock}
	defer v.release()
	if filelock.TryFile(lock) != nil {
		return ErrInUse
	}
	if _, err := os.Lstat(filepath.Join(dir, apply.JournalName)); err == nil {
		return ErrInUse // Recover finishes it, and removes it
	}
	return v.remove()
}

// Name is that of a stage among those of its home.
func (v *View) Name() string { return filepath.Base(v.Dir) }

// Fresh makes the work folders of a stage anew: the kernel takes none that a killed mount has left.
// No mount of the stage may be there.
func (v *View) Fresh() error {
	for i := range v.Roots {
		work := filepath.Join(v.Folder(i), "work")
		if err := errors.Join(entry.RemoveAll(work), os.Mkdir(work, 0o700)); err != nil {
			return err
		}
	}
	now := time.Now()
	return os.Chtimes(filepath.Join(v.Dir, stageName), now, now) // it is in use: see isStage
}

// Leave lets go of a stage, which stays. All that was written to it is on the disk then.
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

// isStage reports a view that outlives its process and whose changes wait. As other changes that
// were not applied, they are kept for keptTime.
func isStage(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, stageName))
	return err == nil && time.Since(info.ModTime()) < keptTime
}
