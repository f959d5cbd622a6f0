package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// The codes of errors that are ours to choose.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeAuth           = -32000
	codeNotFound       = -32002
)

// refuse is the one outcome of a request that is not done. Editors show the message to the user.
func refuse(code int, words string) *sdk.RequestError {
	return &sdk.RequestError{Code: code, Message: words}
}

// errGone says that the editor does not listen any more.
var errGone = errors.New("the editor is gone")

// job is what a request asks for, once it has begun: the answer, and what is told behind it.
type job func(ctx context.Context) (answer any, then func(), err error)

// conn is the connection with an editor: JSON-RPC 2.0, a message a line. Contract:
//   - begin is called for one request after the other, in the order in which they came, and soon
//     returns; the jobs run beside each other;
//   - each request has one answer, also one that cannot be read, fails or panics;
//   - heard is called for notifications, in their order among the requests.
//
// The SDK's own connection is not used: it has no order between a prompt and the cancel behind it,
// answers nothing that it cannot read, ends for good at a long line, and writes what it cannot
// parse to the log, secrets and all.
type conn struct {
	in    lines
	out   io.Writer
	begin func(method string, params json.RawMessage) (job, error)
	heard func(method string, params json.RawMessage)
	panic func(stack string)

	writing sync.Mutex
	mu      sync.Mutex
	count   int
	asked   map[string]chan message            // questions to the editor
	running map[string]context.CancelCauseFunc // its requests
	jobs    sync.WaitGroup
	gone    func(error) // ends run's context
}

// run serves until the editor's side ends, or ctx does. What still runs then is cancelled.
func (c *conn) run(ctx context.Context) error {
	ctx, c.gone = context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.read(ctx) }() // blocks in a read that nothing can end; the process ends it
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.gone(errGone)
	return err
}

func (c *conn) read(ctx context.Context) error {
	for {
		m, err := c.in.next()
		var u *unread
		switch {
		case errors.As(err, &u):
			c.answer(u.ID, nil, u.Err)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case m.Method == "":
			c.settle(m)
		case m.ID == nil && m.Method == cancelRequest:
			c.cancel(m.Params)
		case m.ID == nil:
			c.heard(m.Method, m.Params)
		default:
			c.take(ctx, m)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// cancelRequest is the notification that ends one request.
const cancelRequest = "$/cancel_request"

// take begins a request.
func (c *conn) take(ctx context.Context, m message) {
	do, err := c.begin(m.Method, m.Params)
	if err != nil {
		c.answer(m.ID, nil, asRefusal(err))
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	c.running[string(m.ID)] = cancel
	c.mu.Unlock()
	c.jobs.Go(func() {
		defer func() {
			c.mu.Lock()
			delete(c.running, string(m.ID))
			c.mu.Unlock()
			cancel(nil)
		}()
		answer, then, err := c.guarded(ctx, do)
		if err != nil {
			c.answer(m.ID, nil, asRefusal(err))
			return
		}
		c.answer(m.ID, answer, nil)
		if then != nil {
			then()
		}
	})
}

func (c *conn) guarded(ctx context.Context, do job) (answer any, then func(), err error) {
	defer func() {
		if r := recover(); r != nil {
			c.panic(fmt.Sprintf("%v\n%s", r, debug.Stack()))
			err = refuse(codeInternal, fmt.Sprintf("internal error: %v; this is a bug of adze", r))
		}
	}()
	return do(ctx)
}

// asRefusal is an error as the editor gets it.
func asRefusal(err error) *sdk.RequestError {
	var r *sdk.RequestError
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, context.Canceled):
		return sdk.NewRequestCancelled(nil)
	}
	return refuse(codeInternal, err.Error())
}

// answer writes the one answer of a request.
func (c *conn) answer(id json.RawMessage, answer any, refusal *sdk.RequestError) {
	m := message{Version: "2.0", ID: id, Error: refusal}
	if id == nil {
		m.ID = json.RawMessage("null")
	}
	if refusal == nil {
		raw, err := json.Marshal(answer)
		if err != nil {
			m.Error = refuse(codeInternal, err.Error())
		}
		m.Result = raw
	}
	_ = c.write(m) // who is gone needs none
}

// cancel ends one request of the editor's.
func (c *conn) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.running[string(p.ID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

// settle hands an answer to who waits for it.
func (c *conn) settle(m message) {
	c.mu.Lock()
	wait := c.asked[string(m.ID)]
	delete(c.asked, string(m.ID))
	c.mu.Unlock()
	if wait != nil {
		wait <- m
	}
}

// ask puts a question to the editor and waits for its answer. When ctx ends first, the editor is
// told that nobody waits.
func (c *conn) ask(ctx context.Context, method string, params, answer any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	wait := make(chan message, 1)
	c.mu.Lock()
	c.count++
	id := strconv.Itoa(c.count)
	c.asked[id] = wait
	c.mu.Unlock()
	if err := c.write(message{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: raw}); err != nil {
		return err
	}
	select {
	case m := <-wait:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, answer)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.asked, id)
		c.mu.Unlock()
		c.notify(cancelRequest, map[string]json.RawMessage{"requestId": json.RawMessage(id)})
		return context.Cause(ctx)
	}
}

// notify tells the editor something.
func (c *conn) notify(method string, params any) {
	raw, err := json.Marshal(params)
	if err == nil {
		err = c.write(message{Version: "2.0", Method: method, Params: raw})
	}
	if err != nil {
		c.gone(err)
	}
}

// write blocks while the editor does not read: that slows what is told, and nothing is dropped.
func (c *conn) write(m message) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(raw, '\n')); err != nil {
		c.gone(fmt.Errorf("%w: %w", errGone, err))
		return errGone
	}
	return nil
}
