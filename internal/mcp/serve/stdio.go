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
	messages, lines := io.Pipe()
	p := &pipe{out: out, drain: s.drain, answered: make(chan struct{}, 1)}
	var there context.Context // until the client is gone
	there, p.leave = context.WithCancel(ctx)
	defer p.leave()
	go func() {
		p.readLines(in, lines)
		p.awaitAnswers(there)
		lines.Close()
	}()
	session, err := s.sdk.Connect(ctx, &mcp.IOTransport{Reader: messages, Writer: p, MaxLineLength: -1}, nil)
	if err != nil {
		return err
	}
	go func() {
		_ = session.Wait() // the client is gone, for whatever reason
		p.leave()
	}()
	<-there.Done()
	messages.Close()
	return context.Cause(ctx)
}

// pipe filters the lines of a client: it answers a malformed one with a JSON-RPC error and
// continues, whereas the SDK's transport would end. After the client's last line it waits for
// pending responses.
type pipe struct {
	open     atomic.Int64  // requests without a response
	answered chan struct{} // a response was written
	drain    time.Duration // longest wait for responses after the last line
	leave    func()

	writing sync.Mutex
	out     io.Writer
}

// Close does nothing: the owner closes the output.
func (p *pipe) Close() error { return nil }

// awaitAnswers waits briefly for pending responses: the SDK ends all calls at the end of input.
func (p *pipe) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.drain)
	defer cancel()
	for p.open.Load() > 0 && ctx.Err() == nil {
		select {
		case <-p.answered:
		case <-ctx.Done():
		}
	}
}

// Write writes one of the SDK's messages.
func (p *pipe) Write(line []byte) (int, error) {
	err := p.writeLine(line)
	if message, bad := jsonrpc.DecodeMessage(line); bad == nil {
		if _, answer := message.(*jsonrpc.Response); answer {
			p.open.Add(-1)
			select {
			case p.answered <- struct{}{}:
			default: // the waiter reads the counter
			}
		}
	}
	return len(line), err
}

func (p *pipe) writeLine(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(line)
	if err != nil {
		p.leave()
	}
	return err
}

func (p *pipe) readLines(in io.Reader, to io.Writer) {
	lines := lineread.New(in, maxFrame)
	for {
		line, err := lines.Next()
		line = bytes.TrimRight(line, "\r \t")
		switch {
		case errors.Is(err, lineread.ErrLong):
			p.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message is longer than %d MiB", maxFrame>>20))
			continue
		case err != nil:
			return
		case len(line) == 0:
			continue
		}
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			p.refuse(jsonrpc.CodeInvalidRequest, "a line is not one message of JSON-RPC 2.0; batches are not taken")
			continue
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			p.open.Add(1)
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return // closed
		}
	}
}

func (p *pipe) refuse(code int64, why string) {
	_ = p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why)) // a disconnect is noticed elsewhere
}
