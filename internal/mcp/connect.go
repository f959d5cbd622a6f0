package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
)

// lastOld is the newest protocol that begins with initialize; newest is the one after it.
const (
	lastOld = "2025-11-25"
	newest  = ""
)

// attempt is one way to open a connection.
type attempt struct {
	version string
	limit   time.Duration // for the first response
}

// ErrFinal is wrapped by errors of an [Opener] that a second attempt cannot fix, such as a required
// login.
var ErrFinal = errors.New("it cannot be dialled")

// attempts returns the ways to connect, the likely one first. A program gets the older handshake
// first: nearly all know it, and some exit or stay silent at others. A service gets the newest
// first, with a short timeout.
func (c *connection) attempts() []attempt {
	whole := cmp.Or(c.conf.Start, DefaultStart)
	program := len(c.conf.Command) > 0
	all := []attempt{{newest, whole}, {lastOld, whole}}
	version := "" // last connection's protocol
	c.mu.Lock()
	if known := cmp.Or(c.current, c.load()); known != nil {
		version = known.Protocol
	}
	c.mu.Unlock()
	if version != "" && version <= lastOld || version == "" && program {
		slices.Reverse(all)
	}
	if !program && all[0].version == newest {
		all[0].limit = min(c.pool.opts.Probe, whole)
		all = append(all, attempt{newest, whole})
	}
	return all
}

// converse opens a connection and holds it until it or ctx ends.
func (c *connection) converse(ctx context.Context) (err error) {
	for _, a := range c.attempts() {
		var began, refused bool
		began, err = c.try(ctx, a)
		refused = errors.As(err, new(*jsonrpc.Error))
		silent := len(c.conf.Command) == 0 && a.version == newest && a.limit < cmp.Or(c.conf.Start, DefaultStart) && !errors.As(err, new(*startError))
		if began || ctx.Err() != nil || errors.Is(err, ErrFinal) || !refused && !silent {
			return err
		}
	}
	return err
}

// startError means that a program could not be started.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// try opens the transport and runs the session. began reports whether the handshake succeeded.
func (c *connection) try(ctx context.Context, a attempt) (began bool, err error) {
	open := c.pool.startProgram
	if len(c.conf.Command) == 0 {
		if open = c.pool.opts.HTTP; open == nil {
			return false, &startError{errors.New("servers with an address cannot be used here")}
		}
	}
	var said error
	broke := open(ctx, c.conf, func(wire sdk.Transport) { began, said = c.talk(ctx, wire, a) })
	said = sentence(said)
	switch {
	case said == nil && broke == nil:
		return began, errors.New("it ended")
	case said == nil:
		return began, broke
	case broke == nil:
		return began, said
	case ended(said), errors.Is(broke, ErrFinal):
		return began, broke
	}
	return began, fmt.Errorf("%w (%w)", said, broke)
}

// ended reports whether an error only means that the peer is gone.
func ended(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed)
}

// talk performs the handshake, lists the tools, and reads changed lists until the connection ends
// or stays idle for too long. It returns as soon as ctx ends: the library's own Close may take 15
// seconds.
func (c *connection) talk(ctx context.Context, wire sdk.Transport, a attempt) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, err := c.handshake(ctx, wire, a)
	if err != nil {
		return false, err
	}
	defer func() { go session.Close() }()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = session.Wait()
	}()
	catalogue, err := c.list(ctx, over, session)
	if err != nil {
		return true, fmt.Errorf("its tools: %w", err)
	}
	c.ready(session, catalogue)
	if (catalogue.Prompts || catalogue.Resources) && c.pool.opts.Shares != nil {
		nudge(c.shares)
	}
	idle := time.NewTimer(c.pool.opts.Idle)
	defer idle.Stop()
	tools, shares, pause := c.tools, c.shares, (<-chan time.Time)(nil)
	for {
		select {
		case <-over:
			return true, nil
		case <-ctx.Done():
			return true, ctx.Err()
		case <-idle.C:
			idle.Reset(c.stopIdle())
			continue
		case <-pause:
			tools, shares = c.tools, c.shares
			continue
		case <-tools:
			c.listAgain(ctx, over, session)
		case <-shares:
			_, _ = child.WaitFor(ctx, over, cmp.Or(c.conf.Start, DefaultStart), func() (struct{}, error) {
				c.pool.opts.Shares(ctx, c.conf.Name, session)
				return struct{}{}, nil
			})
		}
		tools, shares, pause = nil, nil, time.After(listEvery)
	}
}

const (
	// listEvery is the shortest time between two lists of a server that keeps changing.
	listEvery = time.Second
	// listTries is the number of failed lists after which adze waits for the next change.
	listTries = 3
)

// list reads the server's tools into a new catalogue.
func (c *connection) list(ctx context.Context, over <-chan struct{}, s *sdk.ClientSession) (*Catalogue, error) {
	return child.WaitFor(ctx, over, cmp.Or(c.conf.Start, DefaultStart), func() (*Catalogue, error) {
		all := newCatalogue(s.InitializeResult())
		if can := s.InitializeResult().Capabilities; can == nil || can.Tools == nil {
			return all, nil
		}
		return all, all.read(ctx, s, c.conf)
	})
}

// listAgain lists the tools again; if it fails, the known ones stay.
func (c *connection) listAgain(ctx context.Context, over <-chan struct{}, s *sdk.ClientSession) {
	for range listTries {
		now, err := c.list(ctx, over, s)
		if err == nil {
			c.mutate(func() { c.update(now) })
		}
		if err == nil || ended(err) || ctx.Err() != nil {
			return
		}
	}
}

func (c *connection) handshake(ctx context.Context, wire sdk.Transport, a attempt) (*sdk.ClientSession, error) {
	client := c.client()
	return child.WaitFor(ctx, nil, a.limit, func() (*sdk.ClientSession, error) {
		s, err := client.Connect(ctx, wire, &sdk.ClientSessionOptions{ProtocolVersion: a.version})
		if err == nil && ctx.Err() != nil {
			go s.Close()
		}
		return s, err
	})
}

// WaitFor runs do and returns when ctx ends even if do does not, as much of the library ignores
// ctx.
func WaitFor[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return child.WaitFor(ctx, nil, 24*time.Hour, do)
}
