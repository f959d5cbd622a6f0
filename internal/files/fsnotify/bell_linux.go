package fsnotify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// heard are the events for which a Bell rings. They include a writer's close, which the kernel also
// reports for a killed process.
const heard = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_CLOSE_WRITE |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// remote reports file systems that change without this kernel, by statfs(2) type.
func remote(kind int64) bool {
	return slices.Contains([]int64{0x6969 /* NFS */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */, 0x517b, /* SMB */
		0x65735546 /* FUSE */, 0x01021997 /* 9p */, 0x00c36400 /* Ceph */, 0x5346414f /* AFS */, 0x73757245 /* Coda */}, kind)
}

// NewBell watches folders. The error is fs.ErrNotExist if one is missing.
func NewBell(folders ...string) (*Bell, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	f := os.NewFile(uintptr(fd), "inotify") // the runtime polls it without blocking a thread
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		if err := listen(fd, dir); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	rings := make(chan struct{}, 1)
	b := &Bell{C: rings, end: f.Close}
	go func() {
		defer close(rings)
		buf := make([]byte, 4<<10)
		for {
			if _, err := f.Read(buf); err != nil { // closed
				return
			}
			select {
			case rings <- struct{}{}:
			default: // already ringing
			}
		}
	}()
	return b, nil
}

// newEntryBell is NewBell, which also reports entries.
func newEntryBell(folders ...string) (*Bell, error) { return NewBell(folders...) }

func listen(fd int, dir string) error {
	var where unix.Statfs_t
	if err := unix.Statfs(dir, &where); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("watch %s: %w", dir, err)
	} else if err != nil || remote(int64(where.Type)&0xffffffff) {
		return errors.Join(ErrUnavailable, err)
	}
	_, err := unix.InotifyAddWatch(fd, dir, heard)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return ErrLimit
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("watch %s: %w", dir, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
