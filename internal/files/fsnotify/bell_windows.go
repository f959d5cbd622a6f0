package fsnotify

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/windows"
)

// entries are the changes for which an entry bell rings. The last write is reported at the latest
// when a file is closed.
const entries = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE

// echo is the delay for a second ring: when a process ends, its files may disappear before its
// locks.
const echo = time.Second

// newEntryBell watches folders for created and deleted files. The error is fs.ErrNotExist if one is
// missing.
func newEntryBell(folders ...string) (*Bell, error) {
	w := &entryWatch{rings: make(chan struct{}, 1), done: make(chan struct{})}
	var err error
	if w.handles, err = watchEntries(folders); err != nil {
		w.release()
		return nil, err
	}
	go w.run()
	return &Bell{C: w.rings, end: w.stop}, nil
}

// watchEntries returns a stop event, followed by a handle for each folder.
func watchEntries(folders []string) (handles []windows.Handle, err error) {
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	handles = []windows.Handle{stop}
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		h, err := windows.FindFirstChangeNotification(dir, false, entries)
		if err != nil {
			return handles, errors.Join(fmt.Errorf("watch %s: %w", dir, err), ErrUnavailable)
		}
		handles = append(handles, h)
	}
	return handles, nil
}

type entryWatch struct {
	handles []windows.Handle // the first ends the wait
	rings   chan struct{}
	done    chan struct{}
}

func (w *entryWatch) run() {
	defer close(w.done)
	defer close(w.rings)
	again := uint32(windows.INFINITE)
	for {
		which, err := windows.WaitForMultipleObjects(w.handles, false, again)
		switch {
		case err != nil || which == windows.WAIT_OBJECT_0:
			return
		case which == uint32(windows.WAIT_TIMEOUT):
			again = windows.INFINITE
		case int(which) >= len(w.handles), windows.FindNextChangeNotification(w.handles[which]) != nil:
			return
		default:
			again = uint32(echo.Milliseconds())
		}
		select {
		case w.rings <- struct{}{}:
		default: // already ringing
		}
	}
}

func (w *entryWatch) stop() error {
	err := windows.SetEvent(w.handles[0])
	<-w.done
	w.release()
	return err
}

func (w *entryWatch) release() {
	for i, h := range w.handles {
		if i == 0 {
			_ = windows.CloseHandle(h)
			continue
		}
		_ = windows.FindCloseChangeNotification(h) // nothing was written
	}
}
