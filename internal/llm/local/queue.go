package local

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"adze/internal/osfile/filelock"
	"adze/session"
)

// Queue reports another session of this user that asks the same server now: such a server may
// answer one after the other, and a request that waits looks like one that hangs. Each request
// holds a locked file in a folder below dir; it is sent at once.
func Queue(dir, server string) Decorator {
	sum := sha256.Sum256([]byte(server))
	dir = filepath.Join(dir, hex.EncodeToString(sum[:8]))
	own := rand.Text() + "-" // how the names of this session's files begin
	var reported atomic.Bool
	return func(p session.Provider) session.Provider {
		return decorated{p, func(ctx context.Context, r session.Request, yield func(session.Chunk) bool) {
			defer hold(filepath.Join(dir, own+rand.Text()))()
			busy := heldByOthers(dir, own)
			if busy && !reported.Swap(true) && !yield(session.Waiting{
				Why: fmt.Sprintf("waiting for the model: another session is asking %s now, and the server may answer one after the other", r.Model)}) {
				return
			}
			if !busy {
				reported.Store(false)
			}
			p.Stream(ctx, r)(yield)
		}}
	}
}

// hold locks a new file until release removes it. What cannot be locked is not seen by others.
func hold(path string) (release func()) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return func() {}
	}
	unlock, err := filelock.Try(path)
	if err != nil {
		return func() {}
	}
	return func() { _ = os.Remove(path); unlock() }
}

// heldByOthers reports a request of another session. Files of sessions that were killed go.
func heldByOthers(dir, own string) (busy bool) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), own) {
			continue
		}
		path := filepath.Join(dir, f.Name())
		unlock, err := filelock.Try(path)
		if err == nil {
			_ = os.Remove(path)
			unlock()
		}
		busy = busy || errors.Is(err, filelock.ErrHeld)
	}
	return busy
}
