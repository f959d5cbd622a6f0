package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"adze/internal/text/usage"
	"adze/session"
)

// A Place locates a session's owner by socket and lock.
type Place struct {
	ID     session.ID
	Folder string        // of the sockets
	Holder func() string // the lock's holder, or ""
}

// TakeOver makes a session's owner release it and waits until it is free. It does not disturb a
// working owner, but returns an error.
func (p Place) TakeOver(ctx context.Context, as string) error {
	c, err := Dial(ctx, p.Folder, p.ID, Subscription{Kind: as, StateOnly: true})
	if errors.Is(err, ErrNobody) {
		return nil // opening it reports a holder without a socket
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if c.Hello.State != Idle {
		return usage.Mistake("wait for the end of its turn, or stop it there", "process %d works in this session", c.Hello.PID)
	}
	if err := c.Release(ctx); err != nil {
		return err
	}
	return p.Freed(ctx)
}

// Release makes the owner end its turn and release the session, and waits for it.
func (c *Client) Release(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if err := c.Take(); err != nil {
		return err
	}
	for {
		l, err := c.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, ErrKilled):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case l.Type == unreadLine:
			var why ownerLine
			_ = json.Unmarshal(l.Raw, &why) // already parsed
			return fmt.Errorf("process %d does not let go of the session: %s", c.Hello.PID, why.Message)
		}
	}
}

// lookTime is Freed's polling interval.
const lookTime = 5 * time.Millisecond

// Freed waits until the session's lock is free. An owner closes its socket before unlocking, and
// the kernel reports a process's end before releasing its locks.
func (p Place) Freed(ctx context.Context) error {
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for p.Holder() != "" {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
