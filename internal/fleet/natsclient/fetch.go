package natsclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of a content that is fetched. The client notices after 10 s that nothing comes any more,
// and asks again; three servers choose a new leader in 2 to 7 s.
const (
	fetchSilence = 20 * time.Second // without a byte
	fetchTakes   = 10 * time.Minute // all of it
	lookAgain    = 200 * time.Millisecond
)

// errSilent is a content of which nothing comes any more.
var errSilent = errors.New("the server sent nothing more")

// Fetch writes the content of that name. One that is missing is ErrNone, one that is not what its
// name says ErrDamaged, one that stops coming ErrUnreachable; then some of it may have been
// written.
func (b *Blobs) Fetch(ctx context.Context, name string, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTakes)
	defer cancel()
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	quiet := time.AfterFunc(b.silence, func() { give(errSilent) })
	defer quiet.Stop()
	err := b.fetch(impatient{ctx}, name, to, func() { quiet.Reset(b.silence) })
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %s sent nothing of content %s for %v; try again when it answers", ErrUnreachable, b.conn.options.URL, name, b.silence)
	}
	return err
}

func (b *Blobs) fetch(ctx context.Context, name string, to io.Writer, came func()) error {
	got, err := b.store.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("%w: content %s", ErrNone, name)
	}
	if err != nil {
		return b.conn.explain(err)
	}
	defer got.Close()
	sum := sha256.New()
	to = io.MultiWriter(to, sum)
	for piece := make([]byte, 64<<10); ; {
		n, err := got.Read(piece)
		if n > 0 {
			came()
			if _, err := to.Write(piece[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
		case errors.Is(err, io.EOF):
			if hex.EncodeToString(sum.Sum(nil)) != name {
				return fmt.Errorf("%w: content %s", ErrDamaged, name)
			}
			return nil
		case errors.Is(err, jetstream.ErrDigestMismatch):
			return fmt.Errorf("%w: content %s: %w", ErrDamaged, name, err)
		default:
			return b.conn.explain(err)
		}
	}
}

// impatient has a read of a content come back soon: the client's reader looks at the end of its
// context only between reads, and takes its deadline for that of each.
type impatient struct{ context.Context }

// Deadline is soon, always.
func (impatient) Deadline() (time.Time, bool) { return time.Now().Add(lookAgain), true }
