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

// Place is where a session is had: by its socket, and by its lock.
type Place struct {
	ID     session.ID
	Folder string        // of the sockets
	Holder func() string // who has the lock; if empty, nobody
}

// TakeOver has the owner of a session let go of it, and waits until nobody has it. An owner that
// works is not disturbed: that is an error.
func (p Place) TakeOver(ctx context.Context, as string) error {
	c, err := Dial(ctx, p.Folder, p.ID, Wish{As: as, StateOnly: true})
	if errors.Is(err, ErrNobody) {
		return nil // opening it tells of a holder without a socket
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

// Release has the owner end its turn and let go of the session, and waits until it has.
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
			_ = json.Unmarshal(l.Raw, &why) // it was read before
			return fmt.Errorf("process %d does not let go of the session: %s", c.Hello.PID, why.Message)
		}
	}
}

// lookTime is how often Freed looks.
const lookTime = 5 * time.Millisecond

// Freed waits until nobody has the lock of the session. An owner closes its socket before, and the
// kernel tells of the end of a process before it gives up its locks.
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
