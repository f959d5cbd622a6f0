package natsclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	oneTry   = 2 * time.Second
	tryAgain = 50 * time.Millisecond
)

// peerAway reports that a stream could not be placed because a server of the cluster is not seen
// for now. A busy cluster says so of one that runs, and sees it again with its next sign of life.
func peerAway(err error) bool {
	return codeOf(err) == codeNoPeers && strings.Contains(err.Error(), "peer offline")
}

// patiently repeats what fails because a leader or a peer is missing, until ctx ends. Then it says
// for how long, and the last answer that was one: that a try took too long says nothing of why.
func (c *Conn) patiently(ctx context.Context, do func(context.Context) error) error {
	began := time.Now()
	var said error
	for tries := 1; ; tries++ {
		try, cancel := context.WithTimeout(ctx, oneTry)
		err := do(try)
		cancel()
		if err = c.Forbidden(err); err == nil || !Passing(err) && !peerAway(err) {
			return c.explain(err)
		}
		if said == nil || !errors.Is(err, context.DeadlineExceeded) {
			said = err
		}
		if errors.Is(err, nats.ErrConnectionClosed) || !pause(ctx, tryAgain) {
			if errors.Is(ctx.Err(), context.Canceled) {
				return c.explain(context.Canceled)
			}
			return c.explain(fmt.Errorf("asked %d times in %v, %s: %w", tries, time.Since(began).Round(100*time.Millisecond), c.standing(), said))
		}
	}
}

// standing says how far the connection itself is: one that stands has servers without a leader
// behind it.
func (c *Conn) standing() string {
	if c.nc.IsConnected() {
		return "connected to " + c.nc.ConnectedAddr() + " (its cluster may have no leader yet)"
	}
	return "not connected"
}

// Away marks an error that may pass, after it was waited for in vain, as ErrUnreachable; other
// errors stay.
func (c *Conn) Away(err error) error {
	if err == nil || !Passing(err) || errors.Is(err, ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.standing(), err)
}
