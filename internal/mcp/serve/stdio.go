package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/lineread"
)

const (
	maxFrame = 4 << 20 // of a line from the client, in bytes
	// mostOpen is how many requests of one client may wait for their answers.
	mostOpen = 128
)

// Pipe serves the client at the other end of in and out until it goes or ctx ends; then nothing
// that it began runs any more.
func (s *Server) Pipe(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.Close()
	p := newPipe(out, s.drain)
	go p.read(in)
	ss, err := s.sdk.Connect(ctx, &mcp.IOTransport{Reader: p, Writer: p, MaxLineLength: maxFrame + 1}, nil)
	if err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- ss.Wait() }()
	select {
	case <-gone: // why does not matter: nobody is there any more
	case <-p.broken:
	case <-ctx.Done():
	}
	p.Close()
	return context.Cause(ctx)
}

// pipe is what stands between the SDK, for which one bad line is the end, and a client. A line that
// is no message is answered as JSON-RPC says, and the next one is read. The end of the client's
// lines is passed on when what it asked is answered, or soon after.
type pipe struct {
	lines  *io.PipeReader // what the SDK reads
	feed   *io.PipeWriter
	broken chan struct{} // nobody reads our answers
	drain  time.Duration

	write sync.Mutex
	out   io.Writer

	mu   sync.Mutex
	room *sync.Cond // a request is answered, or nobody waits for that any more
	open map[string]bool
	end  bool
	once sync.Once
}

func newPipe(out io.Writer, drain time.Duration) *pipe {
	p := &pipe{out: out, drain: drain, broken: make(chan struct{}), open: map[string]bool{}}
	p.room = sync.NewCond(&p.mu)
	p.lines, p.feed = io.Pipe()
	return p
}

func (p *pipe) Read(b []byte) (int, error) { return p.lines.Read(b) }

// Close is the SDK's way, and ours, to end both directions.
func (p *pipe) Close() error {
	p.mu.Lock()
	p.end = true
	p.room.Broadcast()
	p.mu.Unlock()
	p.feed.Close()
	return p.lines.Close()
}

// Write sends one message, which the SDK writes in one piece.
func (p *pipe) Write(b []byte) (int, error) {
	var head struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(b, &head) // the SDK writes JSON
	n, err := p.send(b)
	if head.Method == "" && len(head.ID) > 0 {
		p.mu.Lock()
		delete(p.open, string(head.ID))
		p.room.Broadcast()
		p.mu.Unlock()
	}
	return n, err
}

func (p *pipe) send(b []byte) (int, error) {
	p.write.Lock()
	defer p.write.Unlock()
	n, err := p.out.Write(b)
	if err != nil {
		p.once.Do(func() { close(p.broken) })
	}
	return n, err
}

// read takes the lines of the client.
func (p *pipe) read(in io.Reader) {
	r := lineread.New(in, maxFrame)
	for {
		line, err := r.Next()
		if errors.Is(err, lineread.ErrLong) {
			p.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message is longer than %d MiB", maxFrame>>20))
			continue
		}
		if err != nil {
			p.ended()
			return
		}
		if line = bytes.TrimRight(line, "\r \t"); len(line) > 0 && !p.take(line) {
			return
		}
	}
}

// take passes a line on, when it is a message and there is room; false: nobody takes any more.
func (p *pipe) take(line []byte) bool {
	var any json.RawMessage
	if json.Unmarshal(line, &any) != nil {
		p.refuse(nil, jsonrpc.CodeParseError, "a line is not JSON")
		return true
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		var head struct{ ID json.RawMessage }
		_ = json.Unmarshal(line, &head) // of an array there is none
		p.refuse(head.ID, jsonrpc.CodeInvalidRequest, "not a JSON-RPC request; batches are not taken")
		return true
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !p.admit(line) {
		return true
	}
	_, err = p.feed.Write(append(line, '\n'))
	return err == nil
}

// admit counts a request that is to be answered; false: it is answered here, because one of its id
// is open or too many are. Waiting for room instead would keep the answers to our own questions
// from being read.
func (p *pipe) admit(line []byte) bool {
	var head struct{ ID json.RawMessage }
	_ = json.Unmarshal(line, &head)
	p.mu.Lock()
	twice, many := p.open[string(head.ID)], len(p.open) >= mostOpen
	if !twice && !many {
		p.open[string(head.ID)] = true
	}
	p.mu.Unlock()
	switch {
	case twice:
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "a request with this id still runs")
	case many:
		p.refuse(head.ID, codeBusy, fmt.Sprintf("%d requests wait for their answers; wait for some of them", mostOpen))
	}
	return !twice && !many
}

// codeBusy is of those that JSON-RPC leaves to servers.
const codeBusy = -32000

// refuse answers what is no message.
func (p *pipe) refuse(id json.RawMessage, code int64, why string) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	_, _ = p.send(append(raw, '\n')) // a client that is gone is noticed elsewhere
}

// ended waits a little for the answers that are under way, then tells the SDK.
func (p *pipe) ended() {
	timer := time.AfterFunc(p.drain, func() {
		p.mu.Lock()
		p.end = true
		p.room.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	p.mu.Lock()
	for len(p.open) > 0 && !p.end {
		p.room.Wait()
	}
	p.mu.Unlock()
	p.feed.Close()
}
