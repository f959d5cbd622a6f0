// Package slot tells when another session asks the same model of the same server on this machine:
// such a server answers one request after the other, and a request that waits looks like one that
// hangs.
//
// The one rule: it only tells. A request is sent at once, because the server may well answer
// several beside each other.
//
// Start at Provider.Stream. Known limits: only sessions of this user on this machine are seen, and
// none on a file system without locks.
package slot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/osfile/filelock"
	"adze/session"
)

// Provider tells of other sessions before the answers of another provider. It is safe for
// concurrent use.
type Provider struct {
	session.Provider
	dir  string // holds a locked file for each request that runs
	own  string // how the names of this provider's files begin
	told atomic.Bool
	used atomic.Bool // there was a request before
	mu   sync.Mutex
	free []*os.File // of requests that have ended, not locked
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that keeps its requests in a folder below dir, which all sessions share
// that ask the same server.
func Wrap(p session.Provider, dir, server string) *Provider {
	sum := sha256.Sum256([]byte(server))
	return &Provider{Provider: p, dir: filepath.Join(dir, hex.EncodeToString(sum[:8])), own: rand.Text() + "-"}
}

// Warm lets the other provider open its connection ahead, if it can.
func (p *Provider) Warm(ctx context.Context) {
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// Stream asks the model, and tells first of another session that is being answered now.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		defer p.enter()()
		busy := p.others()
		if busy && !p.told.Swap(true) && !yield(session.Waiting{
			Why: fmt.Sprintf("waiting for the model: another session is asking %s now, and the server may answer one after the other", r.Model)}) {
			return
		}
		if !busy {
			p.told.Store(false)
		}
		p.Provider.Stream(ctx, r)(yield)
	}
}

// enter locks a file for as long as a request runs. What cannot be locked is not seen by others.
// The file stays for the next request, since to make one takes longer than all the rest of this:
// another session may remove it meanwhile, and does where this process has ended. That of the first
// request goes, because most runs of a script make no second one.
func (p *Provider) enter() (leave func()) {
	f := p.again()
	if f == nil {
		f = p.first()
	}
	if f == nil {
		return func() {}
	}
	first := !p.used.Swap(true)
	return func() {
		if first {
			_ = os.Remove(f.Name())
		}
		if first || filelock.UnlockFile(f) != nil {
			_ = f.Close()
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, f)
	}
}

// again locks a file of an earlier request that others still find; nil if there is none.
func (p *Provider) again() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > 0 {
		f := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		if filelock.TryFile(f) == nil && isThere(f) {
			return f
		}
		_ = f.Close()
	}
	return nil
}

// first makes and locks a file.
func (p *Provider) first() *os.File {
	if os.MkdirAll(p.dir, 0o700) != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(p.dir, p.own+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	if filelock.TryFile(f) != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// isThere reports whether the name of a file is still its own.
func isThere(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// others reports a request of another session. Files that nobody holds are left over, and go.
func (p *Provider) others() (busy bool) {
	files, _ := os.ReadDir(p.dir)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), p.own) {
			continue
		}
		path := filepath.Join(p.dir, f.Name())
		unlock, err := filelock.Try(path)
		switch {
		case errors.Is(err, filelock.ErrHeld):
			busy = true
		case err == nil:
			_ = os.Remove(path)
			unlock()
		}
	}
	return busy
}
