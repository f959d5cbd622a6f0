package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
)

// lastOld is the newest protocol that begins with initialize.
const lastOld = "2025-11-25"

// attempt is one way to begin.
type attempt struct {
	version string        // if empty, the newest
	limit   time.Duration // for its answer to the first question
}

// ErrFinal is in the error of an [Opener] that no second attempt mends, such as a server that wants
// a login.
var ErrFinal = errors.New("it cannot be dialled")

// converse begins a conversation and holds it until it ends or ctx does. A program is asked in the
// words of both eras in one start, see handshake; one that ended by itself at the question of the
// newest protocol, which some do at what they do not know, is started anew and asked in older words
// alone. A service that is silent at that question is dialled again.
func (v *life) converse(ctx context.Context) error {
	whole := cmp.Or(v.conf.Start, DefaultStart)
	tries := []attempt{{"", whole}, {lastOld, whole}}
	if len(v.conf.Command) == 0 {
		tries[0].limit = min(v.pool.opts.Probe, whole)
	}
	if v.knownOld() {
		tries = tries[1:]
	}
	var err error
	for i, try := range tries {
		var began bool
		if began, err = v.attempt(ctx, try); began || ctx.Err() != nil || v.hopeless(try, err) {
			return err
		}
		var refused *jsonrpc.Error
		if i == len(tries)-1 && try.version == lastOld && errors.As(err, &refused) {
			_, err = v.attempt(ctx, attempt{"", whole})
		}
	}
	return err
}

// hopeless reports that after this try a start in other words would end in the same way.
func (v *life) hopeless(t attempt, err error) bool {
	program := len(v.conf.Command) > 0
	var exit *exitError
	switch {
	case errors.As(err, new(*startError)), errors.Is(err, ErrFinal):
		return true
	case errors.As(err, new(*jsonrpc.Error)):
		return program && t.version == "" // it was asked in both words
	case errors.As(err, &exit):
		return !exit.itself || exit.launch
	}
	return program
}

// knownOld reports that the server spoke an older protocol when it was last there.
func (v *server) knownOld() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	version := v.list.Version
	if c := v.known(); version == "" && c != nil {
		version = c.Protocol
	}
	return version != "" && version <= lastOld
}

// startError says that a program could not be started at all.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// attempt opens the wire and talks. began reports that the handshake was done.
func (v *life) attempt(ctx context.Context, a attempt) (began bool, err error) {
	open := v.pool.stdio
	if len(v.conf.Command) == 0 {
		if open = v.pool.opts.HTTP; open == nil {
			return false, &startError{errors.New("servers with an address cannot be used here")}
		}
	}
	var said error
	broke := open(ctx, v.conf, func(wire sdk.Transport) { began, said = v.talk(ctx, wire, a) })
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

// talk shakes hands, lists the tools, and then waits for the end. It returns as soon as ctx ends,
// whatever the library still waits for: its own way to close may take a quarter of a minute.
func (v *life) talk(ctx context.Context, wire sdk.Transport, a attempt) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, err := v.greet(ctx, wire, a)
	if err != nil {
		return false, err
	}
	defer func() { go session.Close() }()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = session.Wait()
	}()
	err = v.latest.Since(ctx, v.latest.Mark(), func() error {
		listing, err := child.Within(ctx, over, cmp.Or(v.conf.Start, DefaultStart), func() (Listing, error) { return v.ask(ctx, session) })
		if err == nil {
			v.ready(session, listing)
		}
		return err
	})
	if err != nil {
		return true, fmt.Errorf("its tools: %w", err)
	}
	select {
	case <-over:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// greet does the handshake.
func (v *life) greet(ctx context.Context, wire sdk.Transport, a attempt) (*sdk.ClientSession, error) {
	client := v.client()
	session, err := child.Within(ctx, nil, a.limit, func() (*sdk.ClientSession, error) {
		s, err := client.Connect(ctx, wire, &sdk.ClientSessionOptions{ProtocolVersion: a.version})
		if err == nil && ctx.Err() != nil {
			go s.Close()
		}
		return s, err
	})
	return session, err
}

// Within does something that may not return when ctx ends, as much of the library does not.
func Within[T any](ctx context.Context, do func() (T, error)) (T, error) {
	return child.Within(ctx, nil, 24*time.Hour, do)
}
