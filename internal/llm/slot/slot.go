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
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/gofrs/flock"

	"adze/internal/files/filelock"
	"adze/session"
)

// Provider tells of other sessions before the answers of another provider. It is safe for
// concurrent use.
type Provider struct {
	session.Provider
	dir  string // holds a locked file for each request that runs
	own  string // how the names of this provider's files begin
	told atomic.Bool
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
func (p *Provider) enter() (leave func()) {
	path := filepath.Join(p.dir, p.own+rand.Text())
	if os.MkdirAll(p.dir, 0o700) != nil {
		return func() {}
	}
	unlock, err := filelock.Try(path)
	if err != nil {
		return func() {}
	}
	return func() {
		_ = os.Remove(path)
		unlock()
	}
}

// others reports a request of another session. Files that nobody holds are left over, and go.
func (p *Provider) others() (busy bool) {
	files, _ := os.ReadDir(p.dir)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), p.own) {
			continue
		}
		path := filepath.Join(p.dir, f.Name())
		lock := flock.New(path, flock.SetFlag(os.O_RDWR))
		ok, err := lock.TryLock()
		switch {
		case err == nil && !ok:
			busy = true
		case ok:
			_ = os.Remove(path)
			_ = lock.Unlock()
		}
	}
	return busy
}
