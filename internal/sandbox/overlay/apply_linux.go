package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Apply applies the changes that are neither Left nor Dropped, and moves the left ones aside. An
// error says that the rest of the steps waits in the journal. Where the disk has no room, all is
// taken back: see Outcome.Full.
func (v *View) Apply(changes []*Change) (Outcome, error) {
	var out Outcome
	defer v.freeLeases()
	v.settle(changes)
	for _, top := range changes {
		top.Walk(func(c *Change) bool {
			switch {
			case c.Dropped:
				_ = RemoveAll(v.Place(c))
			case c.Left != "":
				out.Left = append(out.Left, v.setAside(c))
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
	v.sync(steps)
	if err := v.writeJournal(journal{v.roots, v.since, steps}); err != nil {
		if isFull(err) {
			_ = os.Remove(filepath.Join(v.dir, journalName+".new"))
			out.Full, out.Left = err, append(out.Left, v.keepAll(steps, whyFull)...)
			err = nil
		}
		return out, err
	}
	steps, busy := v.lockAll(steps)
	if len(busy) > 0 {
		if err := v.writeJournal(journal{v.roots, v.since, steps}); err != nil {
			return out, err
		}
		out.Left = append(out.Left, busy...)
	}
	done, err := v.run(steps, 0)
	out.Applied, out.Left, out.Full = done.Applied, append(out.Left, done.Left...), done.Full
	if err != nil {
		return out, err
	}
	return out, rename(filepath.Join(v.dir, journalName), filepath.Join(v.dir, appliedName))
}

// notes are about a change that is applied.
func (v *View) notes(c *Change) (out []Note) {
	switch whole := c.From != nil && c.From.Whole; {
	case c.Kind == File && c.From == nil && c.Lower.IsFile() && c.Lower.Links > 1 && !v.own(c):
		out = append(out, Note{v.Real(c), NoteUnlinked})
	case c.how == appended && c.Content == Forked:
		out = append(out, Note{v.Real(c), NoteBehind})
	case whole && c.Kind != New && v.Newer(c.From.Stat):
		out = append(out, Note{v.Real(c), NoteFollowed})
	}
	for _, path := range c.followed {
		out = append(out, Note{filepath.Join(v.roots[c.Root].Path, path), NoteFollowed})
	}
	return out
}

// Files of a view that is being applied, beside the journal.
const (
	progressName = "progress"  // as many bytes as steps were done
	backName     = "take-back" // it is there when the steps are being taken back
)

const whyFull = "there was no room on the disk, so nothing that the command changed was applied"

// isFull reports that a disk has no room, or takes nothing any more.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EIO) || errors.Is(err, unix.EROFS)
}

// run does the steps from one on. One that fails is left out: its change is moved aside. Where the
// disk is full those that were done are taken back.
func (v *View) run(steps []step, from int) (out Outcome, err error) {
	home, _ := statAt(unix.AT_FDCWD, v.dir)
	v.homeDev = home.Dev
	progress, err := os.OpenFile(filepath.Join(v.dir, progressName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return out, err
	}
	defer progress.Close()
	failed := make([]bool, len(steps))
	mark := []byte{'+'}
	for i, s := range steps[from:] {
		passing()
		real := filepath.Join(v.roots[s.Root].Path, s.Path)
		mark[0] = '+'
		err := v.do(s)
		switch {
		case isFull(err):
			out, e := v.takeBack(steps, failed, from+i)
			out.Full = err
			return out, e
		case err != nil:
			failed[from+i], mark[0] = true, '-'
			why := err.Error()
			if c, ok := errors.AsType[conflict](err); ok {
				why = string(c)
			}
			l := Left{Path: real, Why: why}
			if s.Kind != Removed && s.Kind != Merged {
				l.Kept = v.keep(s.Root, s.Path)
			}
			out.Left = append(out.Left, l)
		default:
			out.Applied = add(out.Applied, real)
			if s.Act == move {
				out.Applied = add(out.Applied, filepath.Join(v.roots[s.Root].Path, s.From))
			}
		}
		if _, err := progress.Write(mark); err != nil {
			if !isFull(err) {
				return out, err
			}
			out, e := v.takeBack(steps, failed, from+i+1)
			out.Full = err
			return out, e
		}
	}
	for _, s := range steps {
		_ = v.at(s, spot.tidy)
	}
	return out, nil
}

func add(paths []string, path string) []string {
	if len(paths) > 0 && paths[len(paths)-1] == path {
		return paths
	}
	return append(paths, path)
}

// takeBack undoes the steps before one, the last one first, and says what could not be.
func (v *View) takeBack(steps []step, failed []bool, before int) (out Outcome, err error) {
	if f, err := os.Create(filepath.Join(v.dir, backName)); err == nil {
		_ = f.Close()
	}
	for i := min(before, len(steps)-1); i >= 0; i-- { // the one that failed may have begun
		s := steps[i]
		if failed[i] {
			continue
		}
		passing()
		if err := v.at(s, spot.undo); err != nil && i < before {
			out.Applied = add(out.Applied, filepath.Join(v.roots[s.Root].Path, s.Path))
			out.Left = append(out.Left, Left{Path: filepath.Join(v.roots[s.Root].Path, s.Path), Why: "there was no room on the disk, and this could not be taken back (" + err.Error() + "): it stands as the command left it"})
		}
		_ = os.Truncate(filepath.Join(v.dir, progressName), int64(i))
	}
	stands := out.Left
	for _, l := range v.keepAll(steps, whyFull) {
		if !slices.ContainsFunc(stands, func(s Left) bool { return s.Path == l.Path }) {
			out.Left = append(out.Left, l)
		}
	}
	return out, nil
}

// keepAll moves aside what none of the steps will apply.
func (v *View) keepAll(steps []step, why string) (left []Left) {
	for _, s := range steps {
		real := filepath.Join(v.roots[s.Root].Path, s.Path)
		if s.Act == park || slices.ContainsFunc(left, func(l Left) bool { return l.Path == real }) {
			continue
		}
		l := Left{Path: real, Why: why}
		if s.Kind != Removed && s.Kind != Merged {
			l.Kept = v.keep(s.Root, s.Path)
		}
		left = append(left, l)
	}
	return left
}

// moment is called wherever a killed process would leave something half done; of tests, nil
// otherwise.
var moment func()

func passing() {
	if moment != nil {
		moment()
	}
}

// conflict says that a step is not done because of what is there.
type conflict string

func (c conflict) Error() string { return string(c) }

// spot is a step at its place.
type spot struct {
	*View
	step
	at   int    // the folder of the root
	from string // the folder of ours
	name string
	// abroad says that the place is in another file system than what is put there.
	abroad bool
}

func (v *View) do(s step) error {
	return v.at(s, func(x spot) error {
		if s.Locked {
			if err := x.takeLock(); err != nil {
				return err
			}
			defer x.releaseLock()
		}
		switch s.Act {
		case remove:
			return x.remove()
		case move:
			return x.move()
		case park:
			return x.park()
		case link:
			return x.link()
		case write:
			return x.write()
		case extend:
			return x.extend()
		case dress:
			return x.dress()
		}
		return x.put()
	})
}

// undo takes a step back. Of one that was not done nothing changes.
func (x spot) undo() error {
	switch x.Act {
	case remove:
		return x.unremove()
	case move:
		return x.unmove()
	case park:
		return x.unpark()
	case link:
		return x.unlink()
	case write, dress:
		return x.restore()
	case extend:
		return x.shorten()
	}
	return x.unput()
}

// at opens the place of a step.
func (v *View) at(s step, do func(spot) error) error {
	parent := filepath.Dir(s.Path)
	at, err := v.beneath(s.Root, parent)
	if err != nil {
		if s.Act == remove {
			return nil // it is gone with its folder
		}
		return conflict(WhyParent)
	}
	defer unix.Close(at)
	x := spot{View: v, step: s, at: at, from: filepath.Join(v.upper(s.Root), parent), name: filepath.Base(s.Path)}
	here, err := statAt(at, "")
	if err != nil {
		return err
	}
	x.abroad = here.Dev != v.homeDev
	return do(x)
}

// now is what is at the place. It is an error where that is not what it must be.
func (x spot) now() (Stat, error) { return x.expect(x.Lower) }

func (x spot) expect(want Stat) (Stat, error) {
	now, err := statAt(x.at, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, err
	}
	if x.Loose && now.inode() == want.inode() && want.There() {
		return now, nil
	}
	if x.Moved {
		want.Changed = now.Changed
	}
	if !alike(now, want) {
		return now, conflict(WhyNewer)
	}
	return now, nil
}

// alike compares an entry with what it was. The time of change of a file with several names changes
// with each of them, and a folder's with what is put into it.
func alike(a, b Stat) bool {
	if a.Mode&unix.S_IFMT != b.Mode&unix.S_IFMT || a.Ino != b.Ino || a.Dev != b.Dev {
		return false
	}
	if a.IsFolder() || !a.There() {
		return true
	}
	return a.Size == b.Size && a.Modified == b.Modified && a.Mode == b.Mode && (a.Changed == b.Changed || a.Links > 1 || b.Links > 1)
}

// swapped compares what was taken out of its place: that changes the time of the inode.
func swapped(a, b Stat) bool {
	b.Changed = a.Changed
	return alike(a, b)
}

// remove moves an entry to where it is removed when all is applied.
func (x spot) remove() error {
	trash, trashAt := x.trash()
	if _, err := statAt(x.at, x.name); errors.Is(err, fs.ErrNotExist) {
		return nil // also where a killed process has moved it away
	}
	now, err := x.now()
	if err != nil {
		return err
	}
	passing()
	if err := x.writable(x.at, x.name, now); err != nil {
		return err
	}
	if err := renameFree(x.at, x.name, trashAt, trash); err != nil {
		return err
	}
	passing()
	if err := x.verify(trashAt, trash, now); err != nil {
		return errors.Join(err, renameFree(trashAt, trash, x.at, x.name))
	}
	return nil
}

func (x spot) unremove() error {
	trash, at := x.trash()
	now, err := statAt(at, trash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = renameFree(at, trash, x.at, x.name)
	}
	if err == nil && now.IsFolder() {
		err = fchmod(x.at, x.name, x.Lower.Mode)
	}
	return err
}

// writable gives a folder that is renamed the right to be written to, which that needs.
func (x spot) writable(at int, name string, st Stat) error {
	if st.IsFolder() && st.Mode&0o200 == 0 {
		return fchmod(at, name, st.Mode|0o700)
	}
	return nil
}

// trash is where what goes away waits: in the view, or beside the place where that is in another
// file system.
func (x spot) trash() (name string, at int) {
	if x.abroad {
		return x.temp("-old"), x.at
	}
	return x.old(), unix.AT_FDCWD
}

// old is where an entry that goes away is moved to.
func (x spot) old() string { return filepath.Join(x.dir, fmt.Sprint("old-", x.Number)) }

// temp is a name beside the place, for what comes from another file system.
func (x spot) temp(suffix string) string {
	return fmt.Sprintf("%s%s-%d%s", tempPrefix, filepath.Base(x.dir), x.Number, suffix)
}

const tempPrefix = ".adze-"

// tidy removes what a step left beside its place.
func (x spot) tidy() error {
	if x.abroad {
		return errors.Join(removeBeneath(x.at, x.temp("-old")), removeBeneath(x.at, x.temp("")))
	}
	return nil
}

// verify looks at what was taken out of its place: if somebody changed it in the last moment, it
// goes back.
func (x spot) verify(at int, name string, before Stat) error {
	st, err := statAt(at, name)
	if err != nil {
		return err
	}
	if x.Loose && st.inode() == before.inode() {
		return nil
	}
	if !swapped(st, before) {
		return conflict(WhyNewer)
	}
	if !st.IsFolder() {
		return nil
	}
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	newest, err := newestIn(fd)
	if err == nil && later(newest, x.Lower.Changed) && later(newest, x.since) {
		err = conflict(WhyNewer)
	}
	return err
}

// put puts an entry of ours at its place.
func (x spot) put() error {
	now, err := statAt(x.at, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if x.ours(now) {
		return x.finish() // it was done before the process was killed
	}
	if now, err = x.now(); err != nil {
		return err
	}
	fromAt, from := unix.AT_FDCWD, filepath.Join(x.from, x.name)
	if x.abroad {
		if from, err = x.stage(from); err != nil {
			return err
		}
		fromAt = x.at
	}
	if err := x.writable(fromAt, from, x.Upper); err != nil {
		return err
	}
	passing()
	if !now.There() {
		if err := renameFree(fromAt, from, x.at, x.name); err != nil {
			if err == unix.EEXIST {
				return conflict(WhyNewer)
			}
			return err
		}
		return x.finish()
	}
	if err := x.writable(x.at, x.name, now); err != nil {
		return err
	}
	if err := exchange(fromAt, from, x.at, x.name); err != nil {
		return err
	}
	if err := x.verify(fromAt, from, now); err != nil {
		return errors.Join(err, exchange(fromAt, from, x.at, x.name))
	}
	return x.finish()
}

// ours reports the entry that a step put at its place.
func (x spot) ours(now Stat) bool {
	staged, ok := x.staged()
	return now.There() && (now.inode() == x.Upper.inode() || ok && now.Ino == staged)
}

func (x spot) unput() error {
	now, err := statAt(x.at, x.name)
	if err != nil || !x.ours(now) {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return errors.Join(err, x.tidy())
	}
	toAt, to := unix.AT_FDCWD, filepath.Join(x.from, x.name)
	if x.abroad {
		toAt, to = x.at, x.temp("")
	}
	if err := x.writable(x.at, x.name, now); err != nil {
		return err
	}
	if !x.Lower.There() {
		err = renameFree(x.at, x.name, toAt, to)
	} else if err = exchange(x.at, x.name, toAt, to); err == nil && x.Lower.IsFolder() {
		err = fchmod(x.at, x.name, x.Lower.Mode)
	}
	if err != nil {
		return err
	}
	return x.tidy()
}

// finish gives a folder its mode.
func (x spot) finish() error {
	passing()
	if x.Upper.IsFolder() && x.Upper.Mode&0o200 == 0 {
		return fchmod(x.at, x.name, x.Upper.Mode)
	}
	return nil
}

func (x spot) stagedFile() string { return filepath.Join(x.dir, fmt.Sprint("staged-", x.Number)) }

// staged is the inode of the copy that is beside the place, or was.
func (x spot) staged() (ino uint64, ok bool) {
	if !x.abroad {
		return 0, false
	}
	data, err := os.ReadFile(x.stagedFile())
	if err != nil {
		return 0, false
	}
	_, err = fmt.Sscan(string(data), &ino)
	return ino, err == nil
}

// stage copies an entry of ours to a name beside the place, because it lies in another file system.
func (x spot) stage(from string) (string, error) {
	temp := x.temp("")
	if err := removeBeneath(x.at, temp); err != nil {
		return "", err
	}
	if err := copyTo(from, x.at, temp); err != nil {
		return "", errors.Join(err, removeBeneath(x.at, temp))
	}
	st, err := statAt(x.at, temp)
	if err != nil {
		return "", err
	}
	passing()
	return temp, os.WriteFile(x.stagedFile(), fmt.Append(nil, st.Ino), 0o600)
}

// Renames.

// parked is where what waits for its new name is: in the view, or at the top of the root where that
// is in another file system.
func (x spot) parked() (at int, name string) {
	if x.abroad {
		return x.tops[x.Root], fmt.Sprintf("%s%s-parked-%d", tempPrefix, filepath.Base(x.dir), x.Parked)
	}
	return unix.AT_FDCWD, filepath.Join(x.dir, fmt.Sprint("parked-", x.Parked))
}

func (x spot) park() error {
	at, name := x.parked()
	if _, err := statAt(at, name); err == nil {
		return nil
	}
	now, err := statAt(x.at, x.name)
	if err != nil || now.inode() != x.Lower.inode() {
		return conflict(WhyGone)
	}
	if err := x.writable(x.at, x.name, now); err != nil {
		return err
	}
	return renameFree(x.at, x.name, at, name)
}

func (x spot) unpark() error {
	at, name := x.parked()
	err := renameFree(at, name, x.at, x.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// source opens the folder in which the entry is that a step renames or links.
func (x spot) source() (at int, name string, close func(), err error) {
	if x.Parked > 0 {
		at, name = x.parked()
		return at, name, func() {}, nil
	}
	at, err = x.beneath(x.Root, filepath.Dir(x.From))
	if err != nil {
		return -1, "", nil, conflict(WhyGone)
	}
	return at, filepath.Base(x.From), func() { _ = unix.Close(at) }, nil
}

// move gives the entry its name. What is there goes away.
func (x spot) move() error {
	now, err := statAt(x.at, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sourceAt, source, closeSource, err := x.source()
	if err != nil {
		return err
	}
	defer closeSource()
	trash, trashAt := x.trash()
	if now.There() && now.inode() == x.Lower.inode() { // done before the process was killed
		left, err := statAt(sourceAt, source)
		if err == nil && left.There() && (left.inode() == x.Over.inode() || left.inode() == x.Upper.inode()) {
			return renameFree(sourceAt, source, trashAt, trash)
		}
		return nil
	}
	st, err := statAt(sourceAt, source)
	if err != nil || st.inode() != x.Lower.inode() || st.Mode&unix.S_IFMT != x.Lower.Mode&unix.S_IFMT {
		return conflict(WhyGone)
	}
	if err := x.writable(sourceAt, source, st); err != nil {
		return err
	}
	passing()
	if !now.There() {
		if x.Over.There() && !x.Loose {
			return conflict(WhyNewer)
		}
		err := renameFree(sourceAt, source, x.at, x.name)
		if err == unix.EEXIST {
			err = conflict(WhyNewer)
		}
		return err
	}
	if !x.copyOfOurs(now) {
		if now, err = x.expect(x.Over); err != nil {
			return err
		}
	}
	if err := exchange(sourceAt, source, x.at, x.name); err != nil {
		return err
	}
	passing()
	if x.copyOfOurs(now) {
		return renameFree(sourceAt, source, trashAt, trash)
	}
	if err := x.verify(sourceAt, source, now); err != nil {
		return errors.Join(err, exchange(sourceAt, source, x.at, x.name))
	}
	return renameFree(sourceAt, source, trashAt, trash)
}

// copyOfOurs reports that the command's version is at the place, which came there with its folder.
func (x spot) copyOfOurs(now Stat) bool {
	return now.inode() == x.Upper.inode() || x.abroad && !x.Over.There() && now.IsFile() && now.Size == x.Upper.Size && now.Modified[0] == x.Upper.Modified[0]
}

func (x spot) unmove() error {
	now, err := statAt(x.at, x.name)
	if err != nil || now.inode() != x.Lower.inode() {
		return nil
	}
	at, source, closeSource, err := x.source()
	if err != nil {
		return err
	}
	defer closeSource()
	if _, err := statAt(at, source); err == nil { // it was exchanged, and no more
		return exchange(x.at, x.name, at, source)
	}
	if err := renameFree(x.at, x.name, at, source); err != nil {
		return err
	}
	trash, trashAt := x.trash()
	if err := renameFree(trashAt, trash, x.at, x.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// link gives the entry at From a second name. Where somebody else has put another one there, the
// command's version gets the name: it is a copy of the one that the command linked.
func (x spot) link() error {
	at, source, closeSource, err := x.source()
	if err != nil {
		return x.instead().put()
	}
	defer closeSource()
	st, err := statAt(at, source)
	if copied := x.abroad && x.Lower.inode() == x.Upper.inode(); err != nil || st.inode() != x.Lower.inode() && !copied {
		return x.instead().put()
	}
	now, err := statAt(x.at, x.name)
	switch {
	case err == nil && now.inode() == st.inode():
		return nil
	case err == nil && !x.copyOfOurs(now):
		if _, err := x.expect(x.Over); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && x.Over.There():
		return conflict(WhyNewer)
	}
	temp := x.temp("")
	if err := removeBeneath(x.at, temp); err != nil {
		return err
	}
	if err := unix.Linkat(at, source, x.at, temp, 0); err != nil {
		return err
	}
	passing()
	if !now.There() {
		return renameFree(x.at, temp, x.at, x.name)
	}
	if err := exchange(x.at, temp, x.at, x.name); err != nil {
		return err
	}
	trash, trashAt := x.trash()
	return renameFree(x.at, temp, trashAt, trash)
}

// instead is the step that puts the command's version where the link would be.
func (x spot) instead() spot {
	x.Lower = x.Over
	return x
}

func (x spot) unlink() error {
	now, err2 := statAt(x.at, x.name)
	if err2 == nil && x.ours(now) && x.Lower.inode() != x.Upper.inode() {
		return x.instead().unput()
	}
	at, source, closeSource, err := x.source()
	if err != nil {
		return err
	}
	defer closeSource()
	st, err := statAt(at, source)
	if err != nil || err2 != nil || now.inode() != st.inode() {
		return removeBeneath(x.at, x.temp(""))
	}
	if err := unix.Unlinkat(x.at, x.name, 0); err != nil {
		return err
	}
	trash, trashAt := x.trash()
	if err := renameFree(trashAt, trash, x.at, x.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
