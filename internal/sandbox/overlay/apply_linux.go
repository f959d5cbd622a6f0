package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
)

// Apply applies the changes that are neither SkipReason nor Dropped, and moves the left ones aside.
// After an error the remaining steps wait in the journal. If the disk is too full for all, it
// applies none; see Outcome.Full.
func (v *View) Apply(changes []*Change) (apply.Outcome, error) {
	var out apply.Outcome
	defer v.FreeLeases()
	v.settle(changes)
	for _, top := range changes {
		top.Walk(func(c *Change) bool {
			switch {
			case c.Dropped:
				_ = entry.RemoveAll(v.Place(c))
			case c.SkipReason != "":
				out.Unapplied = append(out.Unapplied, v.setAside(c))
			default:
				out.Notes = append(out.Notes, v.notes(c)...)
				return true
			}
			return false
		})
	}
	steps, err := v.plan(changes)
	if err != nil || len(steps) == 0 {
		return out, err
	}
	for _, dir := range slices.Backward(v.shut) {
		if err := unix.Chmod(v.Place(dir), dir.Upper.Mode&0o7777); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	v.Sync(steps)
	err = v.CheckSpace(steps)
	if err == nil {
		err = v.WriteJournal(apply.Journal{Roots: v.Roots, Since: v.ViewTime, Steps: steps})
	}
	if err != nil {
		if apply.IsFull(err) {
			_ = os.Remove(filepath.Join(v.Dir, apply.JournalName+".new"))
			out.Full, out.Notes, out.Unapplied = err, nil, append(out.Unapplied, v.KeepAll(steps, apply.WhyFull)...)
			err = nil
		}
		return out, err
	}
	steps, busy := v.LockAll(steps)
	if len(busy) > 0 {
		if err := v.WriteJournal(apply.Journal{Roots: v.Roots, Since: v.ViewTime, Steps: steps}); err != nil {
			return out, err
		}
		out.Unapplied = append(out.Unapplied, busy...)
	}
	done, err := v.Run(steps, 0)
	out.Applied, out.Unapplied, out.Notes = done.Applied, append(out.Unapplied, done.Unapplied...), append(out.Notes, done.Notes...)
	if err != nil {
		return out, err
	}
	return out, entry.Rename(filepath.Join(v.Dir, apply.JournalName), filepath.Join(v.Dir, apply.AppliedName))
}

func (v *View) notes(c *Change) (out []apply.Note) {
	switch {
	case c.Kind == apply.File && c.Origin == nil && c.Lower.IsFile() && c.Lower.Links > 1 && !v.own(c):
		out = append(out, apply.Note{Path: v.Real(c), What: apply.NoteUnlinked})
	case c.Kind == apply.Merged && c.Path != "" && v.dressed(c) && v.redressed(c):
		out = append(out, apply.Note{Path: v.Real(c), What: apply.NoteDressed})
	case c.apart:
		out = append(out, apply.Note{Path: v.Real(c), What: apply.NoteApart})
	case c.Origin != nil && c.Origin.InRenamedFolder && c.Kind != apply.New && v.Newer(c.Origin.Stat):
		out = append(out, apply.Note{Path: v.Real(c), What: apply.NoteFollowed})
	}
	for _, path := range c.followed {
		out = append(out, apply.Note{Path: filepath.Join(v.Roots[c.Root].Path, path), What: apply.NoteFollowed})
	}
	return out
}

func (v *View) setAside(c *Change) apply.Unapplied {
	l := apply.Unapplied{Path: v.Real(c), Reason: c.SkipReason}
	if c.Kind == apply.Removed || c.Kind == apply.Special || c.Kind == apply.Merged {
		_ = os.RemoveAll(v.Place(c))
		return l
	}
	l.CommandCopy = v.Keep(c.Root, c.Path)
	return l
}
