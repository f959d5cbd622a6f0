package overlay

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/osfile/filelock"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

const (
	// newTime is the age up to which a view without a lock counts as being made.
	newTime = time.Minute
	// keptTime is the lifetime of changes that were not applied.
	keptTime = 30 * 24 * time.Hour
)

// Recover ends the views below home whose process was killed: it finishes those with a journal and
// undoes the others. It returns their outcomes.
func Recover(home string) (out []apply.Outcome, err error) {
	names, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range names {
		switch {
		case e.Name() == apply.KeptName:
			dropKept(filepath.Join(home, apply.KeptName))
		case strings.HasPrefix(e.Name(), donePrefix):
			_ = entry.RemoveAll(filepath.Join(home, e.Name())) // a later run retries
		case strings.HasPrefix(e.Name(), "view-"):
			o, found, e := recoverView(home, filepath.Join(home, e.Name()))
			err = errors.Join(err, e)
			if found {
				out = append(out, o)
			}
		}
	}
	return out, err
}

func recoverView(home, dir string) (o apply.Outcome, found bool, err error) {
	lock, err := os.OpenFile(filepath.Join(dir, apply.LockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > newTime {
			return o, false, entry.RemoveAll(dir)
		}
		return o, false, nil
	}
	if err != nil {
		return o, false, err
	}
	if filelock.TryFile(lock) != nil {
		return o, false, lock.Close() // in use
	}
	v := &View{Locations: apply.Locations{Dir: dir, Home: home}, lock: lock}
	defer v.release()
	if _, err := os.Lstat(filepath.Join(dir, apply.AppliedName)); err == nil { // also for a stage
		return o, false, v.remove()
	}
	data, err := os.ReadFile(filepath.Join(dir, apply.JournalName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, false, err
	}
	var j apply.Journal
	if json.Unmarshal(data, &j) != nil { // none, or power was lost before it was synced: nothing was applied
		if isStage(dir) { // waits for its session
			return o, false, os.RemoveAll(filepath.Join(dir, apply.JournalName))
		}
		o.Unapplied = v.abandon()
		return o, len(o.Unapplied) > 0, v.remove()
	}
	v.Roots, v.ViewTime = j.Roots, j.Since
	if err := v.OpenRoots(); err != nil {
		return o, false, err // the folder may come back
	}
	if o, err = v.GoOn(j.Steps); err != nil {
		return o, true, err
	}
	return o, true, v.remove()
}

// remove first retires the view, so that a kill in between leaves nothing valid.
func (v *View) remove() error { return errors.Join(v.Retire(), v.Close()) }

// abandon keeps the changes of a command killed with its adze.
func (v *View) abandon() (left []apply.Unapplied) {
	data, err := os.ReadFile(filepath.Join(v.Dir, apply.LockName))
	if err != nil || json.Unmarshal(data, &v.Roots) != nil || v.OpenRoots() != nil {
		return nil
	}
	changes, err := v.Changes()
	if err != nil {
		return nil
	}
	for _, top := range changes {
		if len(top.Children) == 0 {
			continue
		}
		to := filepath.Join(v.Home, apply.KeptName, filepath.Base(v.Dir), filepath.Base(v.Folder(top.Root)))
		if os.MkdirAll(filepath.Dir(to), 0o700) == nil && entry.Rename(v.UpperFolder(top.Root), to) == nil {
			left = append(left, apply.Unapplied{Path: v.Roots[top.Root].Path, Reason: WhyKilled, CommandCopy: to})
		}
	}
	return left
}

// WhyKilled is the reason for not applying a killed command's changes.
const WhyKilled = "adze was killed while a command ran, so what it had changed was not applied"

func dropKept(dir string) {
	names, _ := os.ReadDir(dir)
	for _, e := range names {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptTime {
			_ = entry.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
