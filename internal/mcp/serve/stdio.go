package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/text/lineread"
)

// maxFrame limits a line from the client, in bytes.
const maxFrame = 4 << 20

// Pipe serves the client on in and out until it disconnects or ctx ends. All its calls have ended
// when Pipe returns.
func (s *Server) Pipe(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.Close()
	c := &pipe{out: out, drain: s.drain, messages: make(chan jsonrpc.Message), answered: make(chan struct{}, 1), closed: make(chan struct{})}
	go c.readLines(in)
	session, err := s.sdk.Connect(ctx, c, nil)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		_ = session.Wait() // the client is gone, for whatever reason
		close(over)
	}()
	select {
	case <-over:
	case <-c.closed:
	case <-ctx.Done():
	}
	_ = c.Close()
	return context.Cause(ctx)
}

// pipe is the transport over pipes. It answers a malformed line with a JSON-RPC error and
// continues, whereas the SDK's own transport would end. After the client's last line it waits for
// pending responses.
type pipe struct {
	messages chan jsonrpc.Message // closed after the last one
	open     atomic.Int64         // requests without a response
	answered chan struct{}        // a response was written
	drain    time.Duration        // longest wait for responses after the last line

	writing sync.Mutex
	out     io.Writer

	closing sync.Once
	closed  chan struct{}
}

// Connect implements mcp.Transport.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID implements mcp.Connection.
func (p *pipe) SessionID() string { return "" }

// Close implements mcp.Connection.
func (p *pipe) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return nil
}

// Read implements mcp.Connection.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-p.messages:
		if ok {
			return message, nil
		}
		p.awaitAnswers(ctx)
		return nil, io.EOF
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// awaitAnswers waits briefly for pending responses: the SDK ends all calls at the end of input.
func (p *pipe) awaitAnswers(ctx context.Context) {
	timer := time.NewTimer(p.drain)
	defer timer.Stop()
	for p.open.Load() > 0 {
		select {
		case <-p.answered:
		case <-timer.C:
			return
		case <-p.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Write implements mcp.Connection.
func (p *pipe) Write(_ context.Context, message jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = p.writeLine(raw)
	if _, answer := message.(*jsonrpc.Response); answer {
		p.open.Add(-1)
		select {
		case p.answered <- struct{}{}:
		default: // the waiter reads the counter
		}
	}
	return err
}

func (p *pipe) writeLine(raw []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(append(raw, '\n'))
	if err != nil {
		_ = p.Close()
	}
	return err
}

func (p *pipe) readLines(in io.Reader) {
	defer close(p.messages)
	lines := lineread.New(in, maxFrame)
	for {
		line, err := lines.Next()
		line = bytes.TrimRight(line, "\r \t")
		var message jsonrpc.Message
		switch {
		case errors.Is(err, lineread.ErrLong):
			p.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message is longer than %d MiB", maxFrame>>20))
			continue
		case err != nil:
			return
		case len(line) == 0:
			continue
		}
		if message, err = jsonrpc.DecodeMessage(line); err != nil {
			p.refuse(jsonrpc.CodeInvalidRequest, "a line is not one message of JSON-RPC 2.0; batches are not taken")
			continue
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			p.open.Add(1)
		}
		select {
		case p.messages <- message:
		case <-p.closed:
			return
		}
	}
}

func (p *pipe) refuse(code int64, why string) {
	_ = p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, why)) // a disconnect is noticed elsewhere
}
