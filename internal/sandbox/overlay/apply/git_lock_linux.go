package apply

import (
	"errors"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// LockAll takes git's locks for all steps. It leaves out groups without all their locks.
func (g *Locations) LockAll(steps []Step) (free []Step, left []Unapplied) {
	busy := map[int]bool{}
	for _, s := range steps {
		if !s.Locked || busy[s.Group] {
			continue
		}
		if err := g.at(s, spot.takeLock); err != nil {
			busy[s.Group] = true
		}
	}
	for _, s := range steps {
		if s.Group == 0 || !busy[s.Group] {
			free = append(free, s)
			continue
		}
		if s.Locked {
			_ = g.at(s, func(x spot) error {
				if x.ownLock(x.name + ".lock") {
					x.releaseLock()
				}
				return nil
			})
		}
		left = append(left, g.leftBy(s, WhyLocked))
	}
	return free, left
}

const (
	lockTries = 50
	lockPause = 20 * time.Millisecond
)

func (x spot) lockText() string { return "adze " + filepath.Base(x.Dir) + "\n" }

// takeLock creates git's lock file, which keeps git from changing the entry.
func (x spot) takeLock() error {
	name := x.name + ".lock"
	for try := 0; ; try++ {
		fd, err := unix.Openat(x.dirfd, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
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

// ownLock reports whether a lock is this view's, left by a killed process.
func (x spot) ownLock(name string) bool {
	fd, err := unix.Openat(x.dirfd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	buf := make([]byte, 200)
	n, err := unix.Read(fd, buf)
	return err == nil && string(buf[:n]) == x.lockText()
}

func (x spot) releaseLock() { _ = unix.Unlinkat(x.dirfd, x.name+".lock", 0) }
