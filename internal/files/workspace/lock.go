package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"adze/internal/osfile/filelock"
)

// lockFiles bounds the files in the lock folder. Two paths may share one and wait for each other.
// That is harmless, since nobody takes two locks at once.
const lockFiles = 256

// locks serializes writers to the same path: goroutines by a channel, processes by flock on a file
// in a private folder. The folder is outside the workspace, to keep it out of the user's files.
//
// A lock file contains the name of the temporary file being written. Unless the holder died, it is
// empty after use.
type locks struct {
	mu    sync.Mutex
	dir   string
	ready bool
	slots map[int]chan struct{}
}

type heldLock struct {
	slot chan struct{}
	file *os.File
}

// acquire waits until nobody else writes key, or ctx ends.
func (l *locks) acquire(ctx context.Context, key string) (*heldLock, error) {
	sum := sha256.Sum256([]byte(key))
	n := int(sum[0]) % lockFiles
	slot, err := l.slot(n)
	if err != nil {
		return nil, err
	}
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return nil, aborted(ctx.Err())
	}
	f, err := lockFile(ctx, filepath.Join(l.dir, strconv.Itoa(n)))
	if err != nil {
		<-slot
		return nil, err
	}
	return &heldLock{slot: slot, file: f}, nil
}

func (l *locks) slot(n int) (chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ready {
		if l.dir == "" {
			l.dir = filepath.Join(RuntimeDir(), "locks")
		}
		if err := ownFolder(l.dir); err != nil {
			return nil, err
		}
		l.ready = true
	}
	if l.slots[n] == nil {
		l.slots[n] = make(chan struct{}, 1)
	}
	return l.slots[n], nil
}

// lockFile polls, because a blocked flock cannot be canceled. The interval grows to 50 ms.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, &Error{Code: IO, Message: fmt.Sprintf("lock file %s: %v", path, cause(err)), Err: err}
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := filelock.TryFile(f)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, filelock.ErrHeld) {
			f.Close()
			return nil, &Error{Code: IO, Message: fmt.Sprintf("lock file %s: %v", path, err), Err: err}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			f.Close()
			return nil, aborted(ctx.Err())
		}
	}
}

// release closes the file, which ends the flock, before it admits the next goroutine.
func (h *heldLock) release() {
	h.file.Close()
	<-h.slot
}

// note records the current temporary file; "" means none. Errors are ignored: at worst a crash
// leaves the file behind.
func (h *heldLock) note(temp string) {
	if h.file.Truncate(0) == nil && temp != "" {
		_, _ = h.file.WriteAt([]byte(temp), 0)
	}
}

// left returns the name recorded by a holder that died.
func (h *heldLock) left() string {
	b, _ := io.ReadAll(io.NewSectionReader(h.file, 0, 64<<10))
	return string(b)
}
