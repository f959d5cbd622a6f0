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
// Send by any.
type Client struct {
	Hello Hello

	conn   net.Conn
	in     *lineread.Reader
	sent   sync.Mutex
	lines  int
	closed bool // the owner said that it lets go
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
	c := &Client{conn: conn, in: lineread.New(conn, longestTold)}
	l, err := c.Next()
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

// Next waits for a line. Its error is io.EOF when the owner has let go of the session. It is
// ErrKilled when the owner ended without a word.
func (c *Client) Next() (Line, error) {
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
		var why refused
		_ = json.Unmarshal(raw, &why) // it was read above
		return Line{}, fmt.Errorf("%w: %s", ErrRefused, why.Message)
	case closingLine:
		c.closed = true
	}
	return l, nil
}

// Send writes a line: one of --input-format stream-json, or Take.
func (c *Client) Send(line any) error {
	_, err := c.Number(line)
	return err
}

// Number is Send; n is the number of the line, by which accepted and unread lines name it.
func (c *Client) Number(line any) (n int, err error) {
	raw, err := json.Marshal(line)
	if err != nil {
		return 0, err
	}
	if len(raw) >= longestLine {
		return 0, ErrLong
	}
	c.sent.Lock()
	defer c.sent.Unlock()
	c.lines++
	if _, err := c.conn.Write(append(raw, '\n')); err != nil {
		if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) {
			err = ErrNobody
		}
		return 0, err
	}
	return c.lines, nil
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
		// Once is a key. The owner follows one line by it (Hello.Once).
		Once string `json:"once,omitempty"`
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
