package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"sync"
	"sync/atomic"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// Error codes that the protocol adds to JSON-RPC.
const (
	codeAuth     = -32000
	codeNotFound = -32002
)

// refuse returns an error response. Editors show the message to the user.
func refuse(code int64, words string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: code, Message: words}
}

// errGone means that the editor has disconnected.
var errGone = errors.New("the editor is gone")

// job runs a request after it began. It returns the response, and a function that sends updates
// after it.
type job func(ctx context.Context) (answer any, then func(), err error)

// conn is the connection to an editor: JSON-RPC 2.0, one message a line. Contract:
//   - begin is called for one request at a time, in their order, and soon
//     returns; the jobs run concurrently;
//   - each request gets one response, even if it cannot be parsed, fails or panics;
//   - heard is called for notifications, in order with the requests.
//
// The SDK's connection does not order a prompt and its cancel, does not respond to requests that it
// cannot parse, ends at a long line, and logs unparsable input, with secrets.
type conn struct {
	begin func(method string, params json.RawMessage) (job, error)
	heard func(method string, params json.RawMessage)
	panic func(stack string)

	ctx     context.Context // parent of all jobs
	rpc     *jsonrpc2.Conn
	ready   chan struct{} // closed when rpc is set
	count   atomic.Uint64 // requests to the editor
	mu      sync.Mutex
	running map[jsonrpc2.ID]context.CancelCauseFunc // the editor's requests
	jobs    sync.WaitGroup
}

// run serves until the input or ctx ends. It then cancels the jobs, which still respond if the
// editor reads.
func (c *conn) run(ctx context.Context, in io.Reader, out io.Writer) error {
	c.ready, c.running = make(chan struct{}), map[jsonrpc2.ID]context.CancelCauseFunc{}
	jobs, gone := context.WithCancelCause(ctx)
	defer gone(errGone)
	c.ctx = jobs
	atEnd := func() { gone(errGone); c.jobs.Wait() }
	c.rpc = jsonrpc2.NewConn(context.WithoutCancel(ctx), newLines(in, out, atEnd), c, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(c.ready)
	select {
	case <-c.rpc.DisconnectNotify():
	case <-jobs.Done():
	}
	return context.Cause(ctx)
}

func (c *conn) close() { _ = c.rpc.Close() }

const cancelRequest = "$/cancel_request"

// Handle handles one request or notification. The next one is read after it returns.
func (c *conn) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if <-c.ready; c.ctx.Err() != nil {
		return
	}
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	switch {
	case !r.Notif:
		c.take(r.ID, r.Method, params)
	case r.Method == cancelRequest:
		c.cancel(params)
	default:
		c.heard(r.Method, params)
	}
}

func (c *conn) take(id jsonrpc2.ID, method string, params json.RawMessage) {
	do, err := c.begin(method, params)
	if err != nil {
		c.answer(id, nil, err)
		return
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	c.running[id] = cancel
	c.mu.Unlock()
	c.jobs.Go(func() {
		defer func() {
			c.mu.Lock()
			delete(c.running, id)
			c.mu.Unlock()
			cancel(nil)
		}()
		answer, then, err := c.guarded(ctx, do)
		c.answer(id, answer, err)
		if err == nil && then != nil {
			then()
		}
	})
}

func (c *conn) guarded(ctx context.Context, do job) (answer any, then func(), err error) {
	defer func() {
		if r := recover(); r != nil {
			c.panic(fmt.Sprintf("%v\n%s", r, debug.Stack()))
			err = refuse(jsonrpc2.CodeInternalError, fmt.Sprintf("internal error: %v; this is a bug of adze", r))
		}
	}()
	return do(ctx)
}

// answer sends a request's response. Errors are ignored: the editor is gone.
func (c *conn) answer(id jsonrpc2.ID, answer any, err error) {
	if err == nil {
		if err = c.rpc.Reply(context.Background(), id, answer); err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
			return
		}
	}
	var r *jsonrpc2.Error
	switch {
	case errors.As(err, &r):
	case errors.Is(err, context.Canceled):
		r = refuse(int64(sdk.NewRequestCancelled(nil).Code), "the request was cancelled")
	default:
		r = refuse(jsonrpc2.CodeInternalError, err.Error())
	}
	_ = c.rpc.ReplyWithError(context.Background(), id, r)
}

// cancel cancels one of the editor's requests.
func (c *conn) cancel(params json.RawMessage) {
	var p struct {
		ID jsonrpc2.ID `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.running[p.ID]
	c.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

// ask sends a request to the editor and waits for the response. If ctx ends first, it sends a
// cancellation.
func (c *conn) ask(ctx context.Context, method string, params, answer any) error {
	id := jsonrpc2.ID{Num: c.count.Add(1)}
	err := c.rpc.Call(ctx, method, params, answer, jsonrpc2.PickID(id))
	if err != nil && ctx.Err() != nil {
		c.notify(cancelRequest, map[string]any{"requestId": id})
		return context.Cause(ctx)
	}
	return err
}

// notify sends a notification. It blocks while the editor does not read; nothing is dropped.
func (c *conn) notify(method string, params any) {
	if c.rpc.Notify(context.Background(), method, params) != nil {
		c.close()
	}
}
