package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"adze/internal/files/fsnotify"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/lineread"
	"adze/session"
)

// A Client watches and steers a session owned by another process. Only one goroutine may call Next;
// the other methods are safe for concurrent use.
type Client struct {
	Hello Hello

	conn   net.Conn
	in     *lineread.Reader
	closed bool // the owner announced that it releases the session

	mu    sync.Mutex
	lines int
	waits map[int]func(Reply) // by line number; nil after Next has failed
}

// A Wish selects the lines for a client.
type Subscription struct {
	Kind  string // the client's kind: terminal, page, editor
	After int64  // log position after which to start; 0 means everything
	// StateOnly restricts the lines to type state.
	StateOnly bool
}

// A Line is a line from an owner. Raw is the full line.
type Line struct {
	Type string `json:"type"`
	Raw  []byte `json:"-"`
}

// longestTold limits a line from an owner, in bytes.
const longestTold = 64 << 20

// Dial connects to a session's owner. The error is ErrNobody if there is none, and ErrRefused with
// a reason if the owner refuses this process.
func Dial(ctx context.Context, folder string, id session.ID, w Subscription) (*Client, error) {
	c, err := dial(ctx, path(folder, id))
	if err != nil {
		return nil, err
	}
	first := watch{Type: "watch", Kind: w.Kind, After: w.After}
	if w.StateOnly {
		first.Only = "state"
	}
	if err := c.Send(first); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// dial connects and reads the owner's first line.
func dial(ctx context.Context, at string) (*Client, error) {
	conn, err := connect(ctx, at)
	if errors.Is(err, ErrNobody) {
		return nil, ErrNobody
	}
	if err != nil {
		return nil, fmt.Errorf("connect with the owner of the session: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	c := &Client{conn: conn, in: lineread.New(conn, longestTold), waits: map[int]func(Reply){}}
	l, err := c.next()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil && (l.Type != helloLine || json.Unmarshal(l.Raw, &c.Hello) != nil || c.Hello.Protocol != Protocol) {
		err = fmt.Errorf("%w: it is another version of adze", ErrRefused)
	}
	if errors.Is(err, ErrKilled) {
		err = ErrNobody
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Next waits for a line, and passes replies to their waiters. It returns io.EOF once the owner has
// released the session, and ErrKilled if the owner ended without notice.
func (c *Client) Next() (Line, error) {
	for {
		l, err := c.next()
		if err != nil {
			c.mu.Lock()
			waits := c.waits
			c.waits = nil
			c.mu.Unlock()
			for _, then := range waits {
				then(Reply{gone: true})
			}
		}
		if err != nil || !c.settled(l) {
			return l, err
		}
	}
}

func (c *Client) next() (Line, error) {
	raw, err := c.in.Next()
	if err != nil {
		switch {
		case errors.Is(err, lineread.ErrLong):
			return Line{Type: unreadLine, Raw: []byte(`{"type":"unread","message":"a line of the owner is too long"}`)}, nil
		case c.closed:
			return Line{}, io.EOF
		case errors.Is(err, net.ErrClosed):
			return Line{}, err
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return Line{}, ErrKilled
		}
		return Line{}, err
	}
	l := Line{Raw: raw}
	if err := json.Unmarshal(raw, &l); err != nil {
		return Line{}, fmt.Errorf("the owner of the session wrote a line that is no JSON: %w", err)
	}
	switch l.Type {
	case refusedLine:
		var why ownerLine
		_ = json.Unmarshal(raw, &why) // already parsed above
		return Line{}, fmt.Errorf("%w: %s", ErrRefused, why.Message)
	case closingLine:
		c.closed = true
	}
	return l, nil
}

// settled passes a reply to its waiter, or returns false if there is none.
func (c *Client) settled(l Line) bool {
	if l.Type != acceptedLine && l.Type != unreadLine && l.Type != replyLine {
		return false
	}
	var r struct {
		Reply
		Message, Hint string
	}
	if json.Unmarshal(l.Raw, &r) != nil {
		return false
	}
	if l.Type == unreadLine {
		r.Error = &Failure{Message: r.Message, Hint: r.Hint}
	}
	c.mu.Lock()
	then := c.waits[r.Line]
	delete(c.waits, r.Line)
	c.mu.Unlock()
	if then != nil {
		then(r.Reply)
	}
	return then != nil
}

// Send writes a line of --input-format stream-json, or Take. Next returns its reply.
func (c *Client) Send(line any) error { return c.SendThen(line, nil) }

// SendThen writes a line; Next calls then with its reply.
func (c *Client) SendThen(line any, then func(Reply)) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if len(raw) >= longestLine {
		return ErrLong
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines++
	if then != nil {
		if c.waits == nil {
			return ErrNobody
		}
		c.waits[c.lines] = then
	}
	if _, err = c.conn.Write(append(raw, '\n')); err != nil {
		delete(c.waits, c.lines)
		if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
			err = ErrNobody
		}
	}
	return err
}

// Ask writes a line, waits for its effect, and returns a control request's result. Another
// goroutine must be calling Next. The error is a *Failure if the line had no effect, and ErrNobody
// if the owner is gone.
func (c *Client) Ask(ctx context.Context, line any) (json.RawMessage, error) {
	got := make(chan Reply, 1)
	if err := c.SendThen(line, func(r Reply) { got <- r }); err != nil {
		return nil, err
	}
	select {
	case r := <-got:
		return r.Result, r.err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// SendLine sends one line to a session's owner and waits for its effect, like Client.Ask.
func SendLine(ctx context.Context, folder string, id session.ID, as string, line any) (json.RawMessage, error) {
	c, err := Dial(ctx, folder, id, Subscription{Kind: as, StateOnly: true})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	go func() {
		for _, err := c.Next(); err == nil; _, err = c.Next() {
		}
	}()
	return c.Ask(ctx, line)
}

// Close disconnects; the session continues.
func (c *Client) Close() error { return c.conn.Close() }

// Lines from a client.
type (
	Input = lineprotocol.Input
	File  = lineprotocol.File
)

// Take makes the owner end its turn and release the session, which closes the connection.
func (c *Client) Take() error {
	return c.Send(struct {
		Type string `json:"type"`
	}{"take"})
}

// Await creates the sockets' folder and returns a function that waits until an owner may have come
// or gone, or something changed in the folders beside it, which must exist. Events before Await are
// not reported, so callers must look after calling it.
func Await(folder string, beside ...string) (next func(context.Context) error, stop func(), err error) {
	if err := prepare(folder); err != nil {
		return nil, nil, err
	}
	next, stop = fsnotify.EntryWaiter(time.Second, append(beside, folder)...)
	return next, stop, nil
}
