package fsnotify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Watch is a set of watched folders. Not for concurrent use.
type Watch struct {
	fd     int
	most   int // watches that are taken at most
	paths  map[int32][]string
	byPath map[string]int32
	buf    []byte
}

// events are those after which an entry may be another. The end of a writer counts too: it comes
// after the last of its memory maps is gone, which stored without any event.
const events = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_CLOSE_WRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// remote are the file systems that change without this kernel, by their numbers of statfs(2).
func remote(kind int64) bool {
	return slices.Contains([]int64{0x6969 /* NFS */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x517b, /* SMB */
		0x65735546 /* FUSE */, 0x01021997 /* 9p */, 0x00c36400 /* Ceph */, 0x5346414f /* AFS */, 0x73757245 /* Coda */}, kind)
}

// New begins to watch. root is an open folder of the file system that will be watched; most bounds
// the folders, 0 is half of what the user has, for editors and builds want some too.
func New(root, most int) (*Watch, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(root, &fs); err != nil || remote(int64(fs.Type)&0xffffffff) {
		return nil, errors.Join(ErrUnavailable, err)
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if most <= 0 {
		most = share()
	}
	return &Watch{fd: fd, most: most, paths: map[int32][]string{}, byPath: map[string]int32{}, buf: make([]byte, 64<<10)}, nil
}

// share is how many watches are taken.
func share() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || err2 != nil {
		return 4096
	}
	return n / 2
}

// Close ends watching.
func (w *Watch) Close() { _ = unix.Close(w.fd) }

// Watching reports whether a folder was added under this path and was there since.
func (w *Watch) Watching(path string) bool {
	_, ok := w.byPath[path]
	return ok
}

// Add watches an open folder, which later goes by this path. What happens from now on is told, so
// add it before it is read. It fails with ErrLimit, and then nothing is known of the folder.
func (w *Watch) Add(fd int, path string) error {
	if len(w.byPath) >= w.most {
		return ErrLimit
	}
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(fd), events)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return ErrLimit
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	id := int32(wd)
	if old, ok := w.byPath[path]; ok && old != id {
		w.paths[old] = without(w.paths[old], path)
	}
	w.byPath[path] = id
	// A folder keeps its watch when it is moved, and may be there twice (bind mounts): all its
	// paths are told.
	if !slices.Contains(w.paths[id], path) {
		w.paths[id] = append(w.paths[id], path)
	}
	return nil
}

func without(all []string, path string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == path })
}

// most reads of one Drain: whoever changes files as fast as they are told is not waited for.
const mostReads = 4096

// Drain adds to c what happened since the last Drain.
func (w *Watch) Drain(c *Changed) {
	for range mostReads {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n <= 0:
			c.All = true
			return
		}
		w.parse(w.buf[:n], c)
	}
	c.All = true
}

// parse takes events apart: struct inotify_event is wd 4, mask 4, cookie 4, length 4, name with
// zeros.
func (w *Watch) parse(b []byte, c *Changed) {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		end := min(len(b), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])))
		name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:end], []byte{0})
		b = b[end:]
		if mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0 {
			c.All = true
			continue
		}
		for _, path := range w.paths[wd] {
			c.note(path, string(name), mask&(unix.IN_MODIFY|unix.IN_CLOSE_WRITE) != 0)
		}
		if mask&unix.IN_IGNORED != 0 {
			w.drop(wd)
		}
	}
}

// drop forgets a watch that the system ended, because the folder is gone.
func (w *Watch) drop(wd int32) {
	for _, path := range w.paths[wd] {
		if w.byPath[path] == wd {
			delete(w.byPath, path)
		}
	}
	delete(w.paths, wd)
}

// note enters an event.
func (c *Changed) note(folder, name string, written bool) {
	names := c.Folders[folder]
	if names == nil {
		if c.Folders == nil {
			c.Folders = map[string]map[string]bool{}
		}
		names = map[string]bool{}
		c.Folders[folder] = names
	}
	names[name] = names[name] || written
}
