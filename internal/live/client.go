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
	"adze/internal/text/lineread"
	"adze/session"
)

// Client watches and steers a session that another process writes. Next is called by one goroutine,
// the others by any.
type Client struct {
	Hello Hello

	conn   net.Conn
	in     *lineread.Reader
	closed bool // the owner said that it lets go

	mu    sync.Mutex
	lines int
	waits map[int]func(Reply) // by the number of the line; nil when nobody reads any more
}

// Wish is what a client wants to be told.
type Wish struct {
	As    string // what it calls itself: terminal, page, editor
	After int64  // the position in the log behind which it wants to be told; if 0, all
	// StateOnly has it be told nothing but what the session does: lines of type state.
	StateOnly bool
}

// Line is a line of an owner. Raw is the whole of it.
type Line struct {
	Type string `json:"type"`
	Raw  []byte `json:"-"`
}

// longestTold bounds a line of an owner.
const longestTold = 64 << 20

// Dial connects with the owner of a session. The error is ErrNobody where there is none, and
// ErrRefused with the owner's reason where it does not talk with this process.
func Dial(ctx context.Context, folder string, id session.ID, w Wish) (*Client, error) {
	c, err := dial(ctx, path(folder, id))
	if err != nil {
		return nil, err
	}
	first := watch{Type: "watch", As: w.As, After: w.After}
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

// Next waits for a line, and hands replies to who waits for them. Its error is io.EOF when the
// owner has let go of the session. It is ErrKilled when the owner ended without a word.
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
		_ = json.Unmarshal(raw, &why) // it was read above
		return Line{}, fmt.Errorf("%w: %s", ErrRefused, why.Message)
	case closingLine:
		c.closed = true
	}
	return l, nil
}

// settled hands a reply to the one who waits for it; if false, nobody does.
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

// Send writes a line whose reply Next returns: one of --input-format stream-json, or Take.
func (c *Client) Send(line any) error { return c.Then(line, nil) }

// Then writes a line; Next calls then with the reply to it.
func (c *Client) Then(line any, then func(Reply)) error {
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

// Ask writes a line and waits until it had its effect, and returns the result of a control. Another
// goroutine must call Next. The error is a *Failure where the line had no effect, and ErrNobody
// where the owner is gone.
func (c *Client) Ask(ctx context.Context, line any) (json.RawMessage, error) {
	got := make(chan Reply, 1)
	if err := c.Then(line, func(r Reply) { got <- r }); err != nil {
		return nil, err
	}
	select {
	case r := <-got:
		return r.Result, r.err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Tell sends one line to the owner of a session and waits until it had its effect, as Client.Ask.
func Tell(ctx context.Context, folder string, id session.ID, as string, line any) (json.RawMessage, error) {
	c, err := Dial(ctx, folder, id, Wish{As: as, StateOnly: true})
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

// Close leaves; the session goes on.
func (c *Client) Close() error { return c.conn.Close() }

// Lines that a client sends.
type (
	// Prompt begins a turn, or waits for the one that runs to end.
	Prompt struct {
		Type   string   `json:"type"` // prompt, or steer for a remark to the running turn
		Text   string   `json:"text"`
		Attach []string `json:"attach,omitempty"`
		Files  []File   `json:"files,omitempty"` // that the line itself holds
	}
	// File is a picture, a PDF or a text that is sent along.
	File struct {
		Name string `json:"name"`
		Data []byte `json:"data"`
	}
	// Answer answers a question.
	Answer struct {
		Type     string `json:"type"` // answer
		Question string `json:"question"`
		Choice   string `json:"choice,omitempty"`
		Offer    *int   `json:"offer,omitempty"`
		Reason   string `json:"reason,omitempty"`
		Refused  []int  `json:"refused,omitempty"`
		Text     string `json:"text,omitempty"`
	}
	// Abort ends the running turn, or one call of it.
	Abort struct {
		Type string `json:"type"` // abort
		Call string `json:"call,omitempty"`
	}
	// Set puts a permission mode, an effort or a model in force.
	Set struct {
		Type   string `json:"type"` // set
		Mode   string `json:"permission_mode,omitempty"`
		Effort string `json:"effort,omitempty"`
		Model  string `json:"model,omitempty"`
	}
)

// Take has the owner end its turn and let go of the session: its connection closes then.
func (c *Client) Take() error {
	return c.Send(struct {
		Type string `json:"type"`
	}{"take"})
}

// Await makes the folder of the sockets, and returns a function that waits until an owner may have
// come or gone there, or something happened in the folders beside it, which must be there. A caller
// looks only after Await, which tells of nothing that came before.
func Await(folder string, beside ...string) (next func(context.Context) error, stop func(), err error) {
	if err := prepare(folder); err != nil {
		return nil, nil, err
	}
	next, stop = fsnotify.EntryWaiter(time.Second, append(beside, folder)...)
	return next, stop, nil
}
