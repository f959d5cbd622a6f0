package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// progressName is a file beside the journal with one byte for each finished step.
const progressName = "progress"

const WhyFull = "there was no room on the disk, so nothing that the command changed was applied"

// IsFull reports whether a disk is full or rejects writes.
func IsFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EIO) || errors.Is(err, unix.EROFS)
}

// Run does the steps starting at from. It leaves out a failed step and moves its change aside. If a
// disk rejects writes, it returns an error, and the rest waits in the journal.
func (g *Locations) Run(steps []Step, from int) (out Outcome, err error) {
	home, _ := entry.StatAt(unix.AT_FDCWD, g.Dir)
	g.homeDev = home.Dev
	progress, err := os.OpenFile(filepath.Join(g.Dir, progressName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return out, err
	}
	defer progress.Close()
	if err := g.openBegun(); err != nil {
		return out, err
	}
	defer g.begun.file.Close()
	for _, s := range steps[from:] {
		entry.Passing()
		real := filepath.Join(g.Roots[s.Root].Path, s.Path)
		mark := "+"
		err := g.do(s)
		switch {
		case IsFull(err):
			return out, err
		case err != nil:
			mark = "-"
			why := err.Error()
			if c, ok := errors.AsType[conflict](err); ok {
				why = string(c)
			}
			out.Unapplied = append(out.Unapplied, g.leftBy(s, why))
		default:
			out.Applied = add(out.Applied, real)
			if s.Act == ActMove {
				out.Applied = add(out.Applied, filepath.Join(g.Roots[s.Root].Path, s.From))
			}
		}
		if _, err := progress.WriteString(mark); err != nil {
			return out, err
		}
	}
	for _, s := range steps {
		_ = g.at(s, spot.tidy)
	}
	out.Notes = g.begun.notes
	return out, nil
}

// leftBy describes a step left out, moves the command's version aside, and puts a parked entry
// back.
func (g *Locations) leftBy(s Step, why string) Unapplied {
	l := Unapplied{Path: filepath.Join(g.Roots[s.Root].Path, s.Path), Reason: why}
	if s.Act == ActMove && s.Parked > 0 {
		was := s
		was.Path = s.From
		_ = g.at(was, func(x spot) error {
			at, name := x.parked()
			return entry.RenameFree(at, name, x.dirfd, x.name) // unless somebody else made one there
		})
	}
	if s.Kind != Removed && s.Kind != Merged {
		l.CommandCopy = g.Keep(s.Root, s.Path)
	}
	return l
}

func add(paths []string, path string) []string {
	if len(paths) > 0 && paths[len(paths)-1] == path {
		return paths
	}
	return append(paths, path)
}

// KeepAll moves aside the changes of steps that are never done.
func (g *Locations) KeepAll(steps []Step, why string) (left []Unapplied) {
	for _, s := range steps {
		real := filepath.Join(g.Roots[s.Root].Path, s.Path)
		if s.Act == ActPark || slices.ContainsFunc(left, func(l Unapplied) bool { return l.Path == real }) {
			continue
		}
		left = append(left, g.leftBy(s, why))
	}
	return left
}

// conflict is the reason for skipping a step because of the existing entry.
type conflict string

func (c conflict) Error() string { return string(c) }

// spot is a step at its place.
type spot struct {
	*Locations
	Step
	dirfd int    // the root's folder
	from  string // the view's folder
	name  string
	// crossDevice means that root and view are on different file systems.
	crossDevice bool
}

func (g *Locations) do(s Step) error {
	return g.at(s, func(x spot) error {
		if s.Locked {
			if err := x.takeLock(); err != nil {
				return err
			}
			defer x.releaseLock()
		}
		switch s.Act {
		case ActRemove:
			return x.remove()
		case ActMove:
			return x.move()
		case ActPark:
			return x.park()
		case ActLink:
			return x.link()
		case ActWrite:
			return x.write()
		case ActExtend:
			return x.extend()
		case ActDress:
			return x.dress()
		}
		return x.put()
	})
}

// at opens a step's folder and calls do.
func (g *Locations) at(s Step, do func(spot) error) error {
	parent := filepath.Dir(s.Path)
	at, err := g.OpenBelow(s.Root, parent)
	if err != nil {
		if s.Act == ActRemove {
			return nil // removed with its folder
		}
		return conflict(WhyParent)
	}
	defer unix.Close(at)
	x := spot{Locations: g, Step: s, dirfd: at, from: filepath.Join(g.UpperFolder(s.Root), parent), name: filepath.Base(s.Path)}
	here, err := entry.StatAt(at, "")
	if err != nil {
		return err
	}
	x.crossDevice = here.Dev != g.homeDev
	return do(x)
}

// expect returns the entry at the place, or an error if it is not the wanted one.
func (x spot) expect(want entry.Stat) (entry.Stat, error) {
	now, err := entry.StatAt(x.dirfd, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, err
	}
	if x.Moved {
		want.Changed = now.Changed
	}
	if !alike(now, want) {
		return now, conflict(WhyNewer)
	}
	return now, nil
}

// alike compares an entry with its earlier state. It ignores the change time of files with several
// names and of folders, which others' changes affect.
func alike(a, b entry.Stat) bool {
	if a.ID() != b.ID() || a.IsFolder() || !a.Exists() {
		return a.ID() == b.ID()
	}
	return a.Size == b.Size && a.Modified == b.Modified && a.Mode == b.Mode && (a.Changed == b.Changed || a.Links > 1 || b.Links > 1)
}

// remove moves an entry to the trash, deleted after the last step.
func (x spot) remove() error {
	trash, trashAt := x.trash()
	if _, err := entry.StatAt(x.dirfd, x.name); errors.Is(err, fs.ErrNotExist) {
		return nil // or moved away by a killed process
	}
	now, err := x.expect(x.Lower)
	if err != nil {
		return err
	}
	entry.Passing()
	if err := x.writable(x.dirfd, x.name, now); err != nil {
		return err
	}
	if err := entry.RenameFree(x.dirfd, x.name, trashAt, trash); err != nil {
		return err
	}
	entry.Passing()
	if err := x.verify(trashAt, trash, now); err != nil {
		return errors.Join(err, entry.RenameFree(trashAt, trash, x.dirfd, x.name))
	}
	return nil
}

// writable makes a folder writable, as a rename requires.
func (x spot) writable(at int, name string, st entry.Stat) error {
	if st.IsFolder() && st.Mode&0o200 == 0 {
		return entry.Fchmod(at, name, st.Mode|0o700)
	}
	return nil
}

// trash returns the place for removed entries: in the view, or beside the entry on another file
// system.
func (x spot) trash() (name string, at int) {
	if x.crossDevice {
		return x.temp("-old"), x.dirfd
	}
	return x.old(), unix.AT_FDCWD
}

func (x spot) old() string { return filepath.Join(x.Dir, fmt.Sprint("old-", x.Number)) }

// temp returns a name beside the place, for entries from another file system.
func (x spot) temp(suffix string) string {
	return fmt.Sprintf("%s%s-%d%s", TempPrefix, filepath.Base(x.Dir), x.Number, suffix)
}

const TempPrefix = ".adze-"

// tidy removes a step's leftovers.
func (x spot) tidy() error {
	if x.crossDevice || x.Act == ActLink {
		return errors.Join(entry.RemoveBeneath(x.dirfd, x.temp("-old")), entry.RemoveBeneath(x.dirfd, x.temp("")))
	}
	return nil
}

// verify checks a moved entry: if somebody changed it at the last moment, the caller moves it back.
func (x spot) verify(at int, name string, before entry.Stat) error {
	st, err := entry.StatAt(at, name)
	if err != nil {
		return err
	}
	if before.Changed = st.Changed; !alike(st, before) { // a rename sets the change time
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
	newest, err := entry.NewestIn(fd)
	if err == nil && entry.Later(newest, x.Lower.Changed) && entry.Later(newest, x.ViewTime) {
		err = conflict(WhyNewer)
	}
	return err
}

// put moves the command's version to its place.
func (x spot) put() error {
	now, err := entry.StatAt(x.dirfd, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if x.ours(now) {
		return x.finish() // done before the kill
	}
	if now, err = x.expect(x.Lower); err != nil {
		return err
	}
	fromAt, from := unix.AT_FDCWD, filepath.Join(x.from, x.name)
	if x.crossDevice {
		if from, err = x.stage(from); err != nil {
			return err
		}
		fromAt = x.dirfd
	}
	if err := x.writable(fromAt, from, x.Upper); err != nil {
		return err
	}
	if err := x.place(fromAt, from, now, false); err != nil {
		return err
	}
	return x.finish()
}

// place renames an entry to the place, or exchanges it with the one there. That one is verified
// unless it is ours.
func (x spot) place(fromAt int, from string, now entry.Stat, ours bool) error {
	entry.Passing()
	if !now.Exists() {
		err := entry.RenameFree(fromAt, from, x.dirfd, x.name)
		if err == unix.EEXIST {
			err = conflict(WhyNewer)
		}
		return err
	}
	if err := x.writable(x.dirfd, x.name, now); err != nil {
		return err
	}
	if err := entry.Exchange(fromAt, from, x.dirfd, x.name); err != nil || ours {
		return err
	}
	entry.Passing()
	if err := x.verify(fromAt, from, now); err != nil {
		return errors.Join(err, entry.Exchange(fromAt, from, x.dirfd, x.name))
	}
	return nil
}

// ours reports whether the entry was put there by this step.
func (x spot) ours(now entry.Stat) bool {
	staged, ok := x.staged()
	return now.Exists() && (now.ID() == x.Upper.ID() || ok && now.Ino == staged)
}

// finish sets a folder's final mode.
func (x spot) finish() error {
	entry.Passing()
	if x.Upper.IsFolder() && x.Upper.Mode&0o200 == 0 {
		return entry.Fchmod(x.dirfd, x.name, x.Upper.Mode)
	}
	return nil
}

func (x spot) stagedFile() string { return filepath.Join(x.Dir, fmt.Sprint("staged-", x.Number)) }

// staged returns the inode of the copy made by stage.
func (x spot) staged() (ino uint64, ok bool) {
	if !x.crossDevice {
		return 0, false
	}
	data, err := os.ReadFile(x.stagedFile())
	if err != nil {
		return 0, false
	}
	_, err = fmt.Sscan(string(data), &ino)
	return ino, err == nil
}

// stage copies the command's version from another file system to a name beside the place.
func (x spot) stage(from string) (string, error) {
	temp := x.temp("")
	if err := entry.RemoveBeneath(x.dirfd, temp); err != nil {
		return "", err
	}
	if err := entry.CopyTo(from, x.dirfd, temp); err != nil {
		return "", errors.Join(err, entry.RemoveBeneath(x.dirfd, temp))
	}
	st, err := entry.StatAt(x.dirfd, temp)
	if err != nil {
		return "", err
	}
	entry.Passing()
	return temp, os.WriteFile(x.stagedFile(), fmt.Append(nil, st.Ino), 0o600)
}

// parked returns a parked entry's place: in the view, or at the top of a root on another file
// system.
func (x spot) parked() (at int, name string) {
	if x.crossDevice {
		return x.Tops[x.Root], fmt.Sprintf("%s%s-parked-%d", TempPrefix, filepath.Base(x.Dir), x.Parked)
	}
	return unix.AT_FDCWD, filepath.Join(x.Dir, fmt.Sprint("parked-", x.Parked))
}

func (x spot) park() error {
	at, name := x.parked()
	if _, err := entry.StatAt(at, name); err == nil {
		return nil
	}
	now, err := entry.StatAt(x.dirfd, x.name)
	if err != nil || now.ID() != x.Lower.ID() {
		return conflict(WhyGone)
	}
	if err := x.writable(x.dirfd, x.name, now); err != nil {
		return err
	}
	return entry.RenameFree(x.dirfd, x.name, at, name)
}

// source opens the parent folder for a rename or link.
func (x spot) source() (at int, name string, close func(), err error) {
	if x.Parked > 0 {
		at, name = x.parked()
		return at, name, func() {}, nil
	}
	at, err = x.OpenBelow(x.Root, filepath.Dir(x.From))
	if err != nil {
		return -1, "", nil, conflict(WhyGone)
	}
	return at, filepath.Base(x.From), func() { _ = unix.Close(at) }, nil
}

// move renames an entry. An existing one goes to the trash.
func (x spot) move() error {
	now, err := entry.StatAt(x.dirfd, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sourceAt, source, closeSource, err := x.source()
	if err != nil {
		return err
	}
	defer closeSource()
	trash, trashAt := x.trash()
	if now.Exists() && now.ID() == x.Lower.ID() { // done before the kill
		left, err := entry.StatAt(sourceAt, source)
		if err == nil && left.Exists() && (left.ID() == x.Over.ID() || left.ID() == x.Upper.ID()) {
			return entry.RenameFree(sourceAt, source, trashAt, trash)
		}
		return nil
	}
	st, err := entry.StatAt(sourceAt, source)
	if err != nil || st.ID() != x.Lower.ID() {
		return conflict(WhyGone)
	}
	if err := x.writable(sourceAt, source, st); err != nil {
		return err
	}
	return x.over(sourceAt, source, now)
}

// over places an entry over the expected one or the command's version, which goes to the trash.
func (x spot) over(fromAt int, from string, now entry.Stat) (err error) {
	ours := now.Exists() && x.copyOfOurs(now)
	if !ours {
		if now, err = x.expect(x.Over); err != nil {
			return err
		}
	}
	if err := x.place(fromAt, from, now, ours); err != nil || !now.Exists() {
		return err
	}
	trash, trashAt := x.trash()
	return entry.RenameFree(fromAt, from, trashAt, trash)
}

// copyOfOurs reports whether the entry is the command's version, put there with its folder.
func (x spot) copyOfOurs(now entry.Stat) bool {
	return now.ID() == x.Upper.ID() || x.crossDevice && !x.Over.Exists() && now.IsFile() && now.Size == x.Upper.Size && now.Modified[0] == x.Upper.Modified[0]
}

// link gives the entry at From a second name. If somebody else replaced that entry, the command's
// version, a copy, gets the name.
func (x spot) link() error {
	at, source, closeSource, err := x.source()
	if err != nil {
		return x.instead().put()
	}
	defer closeSource()
	st, err := entry.StatAt(at, source)
	if copied := x.crossDevice && x.Lower.ID() == x.Upper.ID(); err != nil || st.ID() != x.Lower.ID() && !copied {
		return x.instead().put()
	}
	now, err := entry.StatAt(x.dirfd, x.name)
	if err == nil && now.ID() == st.ID() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := x.temp("")
	if err := entry.RemoveBeneath(x.dirfd, temp); err != nil {
		return err
	}
	if err := unix.Linkat(at, source, x.dirfd, temp, 0); err != nil {
		return err
	}
	return x.over(x.dirfd, temp, now)
}

// instead returns the step for putting the command's version in place of the link.
func (x spot) instead() spot {
	x.Lower = x.Over
	return x
}
