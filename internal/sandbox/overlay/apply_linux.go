package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// step applies one change. It can be done again: what is there says whether it has been done.
type step struct {
	Number int // in the journal; it makes names
	Root   int
	Path   string
	Kind   Kind
	Upper  Stat // of what is put there; a folder gets this mode
	Lower  Stat // of what must be there
	Locked bool
	Group  int
	order  int
}

// journal is what is written before the first entry is changed.
type journal struct {
	Roots []Root
	Since [2]int64
	Steps []step
}

// Reasons why a change is left out.
const (
	WhyNewer  = "somebody else changed it while the command ran"
	WhyParent = "somebody else changed the folder that it is in while the command ran"
	WhyLocked = "another git holds the lock"

	WhyUnreadable = "what stands there cannot be looked at"
)

// Apply applies the changes that are neither Left nor Dropped, and moves the left ones aside.
func (v *View) Apply(changes []*Change) (Outcome, error) {
	var out Outcome
	for _, top := range changes {
		top.Walk(func(c *Change) bool {
			if c.Left == "" && !c.Dropped && !c.Known && c.Kind != Merged && v.Newer(c.Lower) {
				c.Left = WhyNewer
			}
			switch {
			case c.Dropped:
				_ = RemoveAll(v.Place(c))
			case c.Left != "":
				out.Left = append(out.Left, v.setAside(c))
			default:
				return true
			}
			return false
		})
	}
	var steps []step
	for _, top := range changes {
		if err := v.plan(top, &steps); err != nil {
			return out, err
		}
	}
	if len(steps) == 0 {
		return out, nil
	}
	for _, dir := range slices.Backward(v.opened) {
		if err := unix.Chmod(v.Place(dir), dir.Upper.Mode&0o7777); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.order - b.order })
	for i := range steps {
		steps[i].Number = i
	}
	v.sync(steps)
	if err := v.writeJournal(journal{v.roots, v.since, steps}); err != nil {
		return out, err
	}
	steps, busy := v.lockAll(steps)
	if len(busy) > 0 {
		if err := v.writeJournal(journal{v.roots, v.since, steps}); err != nil {
			return out, err
		}
		out.Left = append(out.Left, busy...)
	}
	done, left := v.run(steps)
	out.Applied, out.Left = done, append(out.Left, left...)
	return out, rename(filepath.Join(v.dir, journalName), filepath.Join(v.dir, appliedName))
}

// plan makes the steps for a change and what is below it.
func (v *View) plan(c *Change, steps *[]step) error {
	if c.Dropped || c.Left != "" {
		return nil
	}
	if c.Kind == Merged {
		if c.Path != "" && c.Upper.Mode != c.Lower.Mode && !v.Newer(c.Lower) {
			*steps = append(*steps, c.step())
		}
		for _, child := range c.Children {
			if err := v.plan(child, steps); err != nil {
				return err
			}
		}
		return nil
	}
	*steps = append(*steps, c.step())
	var err error
	c.Walk(func(c *Change) bool {
		if c.Dropped || c.Left != "" {
			return false
		}
		if c.Kind == File || c.Kind == New {
			err = errors.Join(err, strip(v.Place(c), c.Upper))
		}
		return err == nil
	})
	return err
}

func (c *Change) step() step {
	return step{Root: c.Root, Path: c.Path, Kind: c.Kind, Upper: c.Upper, Lower: c.Lower, Locked: c.Locked, Group: c.Group, order: c.Order}
}

// writeJournal writes it whole, and to the disk: after a loss of power there is none or all of it.
func (v *View) writeJournal(j journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	at := filepath.Join(v.dir, journalName)
	f, err := os.OpenFile(at+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, unix.Fdatasync(int(f.Fd())), f.Close()); err != nil {
		return err
	}
	return rename(at+".new", at)
}

// mostSynced is how many files of one command are written to the disk before they replace others.
// What a program wrote to the disk in a view is not there yet, because the kernel does not sync
// volatile overlays.
const mostSynced = 16

// sync writes the files to the disk that replace others, and those that git keeps under lock.
func (v *View) sync(steps []step) {
	n := 0
	for _, s := range steps {
		if s.Kind != File || !s.Lower.There() && !s.Locked {
			continue
		}
		if n++; n > mostSynced && !s.Locked {
			continue
		}
		if f, err := os.Open(filepath.Join(v.upper(s.Root), s.Path)); err == nil {
			_ = unix.Fdatasync(int(f.Fd())) // what fails is told when it is read
			_ = f.Close()
		}
	}
}

// lockAll takes the locks of all steps. The groups of which it does not get one are left out.
func (v *View) lockAll(steps []step) (free []step, left []Left) {
	busy := map[int]bool{}
	for _, s := range steps {
		if !s.Locked || busy[s.Group] {
			continue
		}
		if err := v.at(s, spot.takeLock); err != nil {
			busy[s.Group] = true
		}
	}
	for _, s := range steps {
		if s.Group == 0 || !busy[s.Group] {
			free = append(free, s)
			continue
		}
		if s.Locked {
			_ = v.at(s, func(x spot) error {
				if x.ownLock(x.name + ".lock") {
					x.releaseLock()
				}
				return nil
			})
		}
		l := Left{Path: filepath.Join(v.roots[s.Root].Path, s.Path), Why: WhyLocked}
		if s.Kind != Removed && s.Kind != Merged {
			l.Kept = v.keep(s.Root, s.Path)
		}
		left = append(left, l)
	}
	return free, left
}

// run does the steps. One that fails is left out: its change is moved aside.
func (v *View) run(steps []step) (done []string, left []Left) {
	home, _ := statAt(unix.AT_FDCWD, v.dir)
	v.homeDev = home.Dev
	for _, s := range steps {
		real := filepath.Join(v.roots[s.Root].Path, s.Path)
		passing()
		err := v.do(s)
		if err == nil {
			done = append(done, real)
			continue
		}
		why := err.Error()
		if c, ok := errors.AsType[conflict](err); ok {
			why = string(c)
		}
		l := Left{Path: real, Why: why}
		if s.Kind != Removed && s.Kind != Merged {
			l.Kept = v.keep(s.Root, s.Path)
		}
		left = append(left, l)
	}
	return done, left
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
		switch s.Kind {
		case Removed:
			return x.remove()
		case Merged:
			return x.chmod()
		}
		return x.put()
	})
}

// at opens the place of a step.
func (v *View) at(s step, do func(spot) error) error {
	parent := filepath.Dir(s.Path)
	at, err := v.beneath(s.Root, parent)
	if err != nil {
		if s.Kind == Removed {
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
	room, err := statAt(unix.AT_FDCWD, x.from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	x.abroad = err == nil && here.Dev != room.Dev
	return do(x)
}

// now is what is at the place. It is an error where that is not what it must be.
func (x spot) now() (Stat, error) {
	now, err := statAt(x.at, x.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, err
	}
	if !alike(now, x.Lower) {
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

// chmod gives a folder its mode.
func (x spot) chmod() error {
	if _, err := x.now(); err != nil {
		return err
	}
	fd, err := openBeneath(x.at, x.name)
	if err != nil {
		return conflict(WhyNewer)
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), x.Upper.Mode&0o7777)
}

// remove moves an entry into the view, which is removed later.
func (x spot) remove() error {
	if _, err := statAt(x.at, x.name); errors.Is(err, fs.ErrNotExist) {
		return removeBeneath(x.at, x.temp("-old")) // where a killed process left it
	}
	now, err := x.now()
	if err != nil {
		return err
	}
	if x.abroad || x.Lower.Dev != x.homeDev {
		return x.removeThere(now)
	}
	trash := x.old()
	if now.IsFolder() && now.Mode&0o200 == 0 { // a folder that moves is written to
		if err := fchmod(x.at, x.name, now.Mode|0o700); err != nil {
			return err
		}
	}
	passing()
	if err := move(x.at, x.name, unix.AT_FDCWD, trash); err != nil {
		return err
	}
	passing()
	if err := x.verify(trash, now); err != nil {
		return errors.Join(err, move(unix.AT_FDCWD, trash, x.at, x.name))
	}
	return nil
}

// removeThere removes what cannot be moved away at once.
func (x spot) removeThere(now Stat) error {
	if !now.IsFolder() {
		return unix.Unlinkat(x.at, x.name, 0)
	}
	temp := x.temp("-old")
	if err := move(x.at, x.name, x.at, temp); err != nil {
		return err
	}
	passing()
	return removeBeneath(x.at, temp)
}

// verify looks at what was taken out of its place: if somebody changed it in the last moment, it
// goes back.
func (x spot) verify(old string, before Stat) error {
	st, err := statAt(unix.AT_FDCWD, old)
	if err != nil {
		return err
	}
	if !swapped(st, before) {
		return conflict(WhyNewer)
	}
	if !st.IsFolder() {
		return nil
	}
	fd, err := unix.Open(old, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
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
	if staged, ok := x.staged(); now.There() && (now.Dev == x.Upper.Dev && now.Ino == x.Upper.Ino || ok && now.Ino == staged) {
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
	if x.Upper.IsFolder() && x.Upper.Mode&0o200 == 0 {
		if err := fchmod(fromAt, from, x.Upper.Mode|0o700); err != nil {
			return err
		}
	}
	passing()
	if !now.There() {
		if err := move(fromAt, from, x.at, x.name); err != nil {
			if err == unix.EEXIST {
				return conflict(WhyNewer)
			}
			return err
		}
		return x.finish()
	}
	if now.IsFolder() && now.Mode&0o200 == 0 {
		if err := fchmod(x.at, x.name, now.Mode|0o700); err != nil {
			return err
		}
	}
	if err := exchange(fromAt, from, x.at, x.name); err != nil {
		return err
	}
	if err := x.verifyAt(fromAt, from, now); err != nil {
		return errors.Join(err, exchange(fromAt, from, x.at, x.name))
	}
	return x.finish()
}

func (x spot) verifyAt(at int, name string, before Stat) error {
	if at == unix.AT_FDCWD {
		return x.verify(name, before)
	}
	return x.verify(filepath.Join(fmt.Sprintf("/proc/self/fd/%d", at), name), before)
}

// finish gives a folder its mode, and removes what was only there to get it to its place.
func (x spot) finish() error {
	passing()
	if x.Upper.IsFolder() && x.Upper.Mode&0o200 == 0 {
		if err := fchmod(x.at, x.name, x.Upper.Mode); err != nil {
			return err
		}
	}
	if _, ok := x.staged(); ok {
		return removeBeneath(x.at, x.temp(""))
	}
	return nil
}

// fchmod changes the mode of a folder without following a link.
func fchmod(at int, name string, mode uint32) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode&0o7777)
}

// old is where an entry that goes away is moved to.
func (x spot) old() string { return filepath.Join(x.dir, fmt.Sprint("old-", x.Number)) }

// temp is a name beside the place, for what comes from another file system.
func (x spot) temp(suffix string) string {
	return fmt.Sprintf("%s%s-%d%s", tempPrefix, filepath.Base(x.dir), x.Number, suffix)
}

const tempPrefix = ".adze-"

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

// copyTo copies a file, link or folder.
func copyTo(from string, at int, name string) error {
	st, err := statAt(unix.AT_FDCWD, from)
	if err != nil {
		return err
	}
	switch {
	case st.is(unix.S_IFLNK):
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, at, name)
	case st.IsFolder():
		return copyFolder(from, st, at, name)
	}
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrPermission) {
		if err = unix.Chmod(from, st.Mode&0o7777|0o400); err == nil {
			in, err = os.Open(from)
		}
	}
	if err != nil {
		return err
	}
	defer in.Close()
	fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	_, err = io.Copy(to, in)
	return errors.Join(err, dress(to, st, in), to.Close())
}

func copyFolder(from string, st Stat, at int, name string) error {
	if err := unix.Mkdirat(at, name, 0o700); err != nil {
		return err
	}
	if st.Mode&0o500 != 0o500 { // a kill here leaves it so
		if err := openFolder(from, st); err != nil {
			return err
		}
	}
	names, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	defer to.Close()
	for _, e := range names {
		if err := copyTo(filepath.Join(from, e.Name()), fd, e.Name()); err != nil {
			return err
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return dress(to, st, in)
}

// dress gives a copy the owner, attributes, mode and times of its original.
func dress(to *os.File, st Stat, from *os.File) error {
	if os.Geteuid() == 0 {
		if err := to.Chown(int(st.UID), int(st.GID)); err != nil {
			return err
		}
	}
	buf := make([]byte, 64<<10)
	if n, err := unix.Flistxattr(int(from.Fd()), buf); err == nil {
		for name := range splitNames(buf[:n]) {
			value := make([]byte, 64<<10)
			if n, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
				_ = unix.Fsetxattr(int(to.Fd()), name, value[:n], 0) // the other file system may know none
			}
		}
	}
	if err := unix.Fchmod(int(to.Fd()), st.Mode&0o7777); err != nil {
		return err
	}
	when := time.Unix(st.Modified[0], st.Modified[1])
	tv := []unix.Timeval{unix.NsecToTimeval(when.UnixNano()), unix.NsecToTimeval(when.UnixNano())}
	return unix.Futimes(int(to.Fd()), tv)
}

// removeBeneath removes a name, and what is below it where it is a folder.
func removeBeneath(at int, name string) error {
	err := unix.Unlinkat(at, name, 0)
	switch {
	case err == nil || err == unix.ENOENT:
		return nil
	case err != unix.EISDIR && err != unix.EPERM:
		return err
	}
	if err := fchmod(at, name, 0o700); err != nil {
		return err
	}
	fd, err := openBeneath(at, name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	names, err := entries(fd)
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := removeBeneath(fd, below); err != nil {
			return err
		}
	}
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}

// lockTime is how long another git's lock is waited for.
const (
	lockTries = 50
	lockPause = 20 * time.Millisecond
)

func (x spot) lockText() string { return "adze " + filepath.Base(x.dir) + "\n" }

// takeLock makes git's lock file. While it is there no git changes the entry.
func (x spot) takeLock() error {
	name := x.name + ".lock"
	for try := 0; ; try++ {
		fd, err := unix.Openat(x.at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_, err = unix.Write(fd, []byte(x.lockText()))
			return errors.Join(err, unix.Close(fd))
		}
		if err != unix.EEXIST {
			return err
		}
		if x.ownLock(name) {
			return nil
		}
		if try == lockTries {
			return conflict(WhyLocked)
		}
		time.Sleep(lockPause)
	}
}

// ownLock reports a lock of this view, which a killed process left.
func (x spot) ownLock(name string) bool {
	fd, err := unix.Openat(x.at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	buf := make([]byte, 200)
	n, err := unix.Read(fd, buf)
	return err == nil && string(buf[:n]) == x.lockText()
}

func (x spot) releaseLock() { _ = unix.Unlinkat(x.at, x.name+".lock", 0) }

// setAside moves a change that is left out to the folder of what is kept.
func (v *View) setAside(c *Change) Left {
	l := Left{Path: v.Real(c), Why: c.Left}
	if c.Kind == Removed || c.Kind == Special || c.Kind == Merged {
		_ = os.RemoveAll(v.Place(c))
		return l
	}
	l.Kept = v.keep(c.Root, c.Path)
	return l
}

// keep moves an entry of ours to the folder of what is kept, and returns where it is then.
func (v *View) keep(root int, path string) string {
	to := filepath.Join(v.home, keptName, filepath.Base(v.dir), path)
	if root > 0 {
		to = filepath.Join(v.home, keptName, filepath.Base(v.dir), fmt.Sprint("root-", root), path)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return ""
	}
	from := filepath.Join(v.upper(root), path)
	if err := rename(from, to); err != nil {
		if os.Chmod(from, 0o700) != nil || rename(from, to) != nil {
			return ""
		}
	}
	return to
}
