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

// lastOld is the newest protocol that begins with initialize; newest asks for the one after it.
const (
	lastOld = "2025-11-25"
	newest  = ""
)

// attempt is one way to begin.
type attempt struct {
	version string
	limit   time.Duration // for the answer to its first question
}

// ErrFinal is in the error of an [Opener] that no second attempt mends, such as a server that wants
// a login.
var ErrFinal = errors.New("it cannot be dialled")

// attempts are the ways to begin with a server, the likely one first. A program is asked in the
// older words first, which nearly all know, for some end or say nothing at others. A service is
// asked in the newest first, and for a short time.
func (c *connection) attempts() []attempt {
	whole := cmp.Or(c.conf.Start, DefaultStart)
	program := len(c.conf.Command) > 0
	all := []attempt{{newest, whole}, {lastOld, whole}}
	version := "" // that it spoke when it was last there
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

// converse begins a conversation and holds it until it ends or ctx does.
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

// startError says that a program could not be started at all.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// try opens the wire and talks. began reports that the handshake was done.
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

// ended reports an error that only says that there is nobody any more.
func ended(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed)
}

// talk shakes hands, lists the tools, and then asks for what the server says that it has changed,
// until the end, or until nobody has used the server for a while. It returns as soon as ctx ends,
// whatever the library still waits for: its own way to close may take a quarter of a minute.
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
			_, _ = child.Within(ctx, over, cmp.Or(c.conf.Start, DefaultStart), func() (struct{}, error) {
				c.pool.opts.Shares(ctx, c.conf.Name, session)
				return struct{}{}, nil
			})
		}
		tools, shares, pause = nil, nil, time.After(listEvery)
	}
}

const (
	// listEvery is how long a server that changes on and on is not asked again.
	listEvery = time.Second
	// listTries is how often a server may fail to say what its tools are now, until it tells of the
	// next change.
	listTries = 3
)

// list asks the server what it has and makes its catalogue of that.
func (c *connection) list(ctx context.Context, over <-chan struct{}, s *sdk.ClientSession) (*Catalogue, error) {
	return child.Within(ctx, over, cmp.Or(c.conf.Start, DefaultStart), func() (*Catalogue, error) {
		all := newCatalogue(s.InitializeResult())
		if can := s.InitializeResult().Capabilities; can == nil || can.Tools == nil {
			return all, nil
		}
		return all, all.read(ctx, s, c.conf)
	})
}

// listAgain asks for the tools of a server whose tools are known; if it fails, those stay.
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

// handshake has the library connect.
func (c *connection) handshake(ctx context.Context, wire sdk.Transport, a attempt) (*sdk.ClientSession, error) {
	client := c.client()
	return child.Within(ctx, nil, a.limit, func() (*sdk.ClientSession, error) {
		s, err := client.Connect(ctx, wire, &sdk.ClientSessionOptions{ProtocolVersion: a.version})
		if err == nil && ctx.Err() != nil {
			go s.Close()
		}
		return s, err
	})
}

// Within does something that may not return when ctx ends, as much of the library does not.
func Within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return child.Within(ctx, nil, 24*time.Hour, do)
}
