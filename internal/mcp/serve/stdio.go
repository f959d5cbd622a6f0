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

	"adze/internal/text/lineread"
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
	p := newPipe(out, s.drain, s.after)
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
	after  func(time.Duration, func()) timer

	write sync.Mutex
	out   io.Writer

	mu      sync.Mutex
	room    *sync.Cond // a request is answered, or nobody waits for that any more
	open    map[string]*pending
	end     bool
	once    sync.Once
	sending int  // answers that are on their way
	old     bool // the protocol of the client has batches
}

// pending is a request that is not answered yet.
type pending struct {
	method string
	drop   bool   // the client took it back: it gets no answer
	batch  *batch // that it came in; if nil, it came alone
}

// batch gathers the answers to the requests of a batch, which go out together.
type batch struct {
	left    int // requests without an answer
	answers []json.RawMessage
}

// noBatches is the first version of the protocol without batches. Its predecessors have them, also
// the first, which leaves them to JSON-RPC.
const noBatches = "2025-06-18"

func newPipe(out io.Writer, drain time.Duration, after func(time.Duration, func()) timer) *pipe {
	p := &pipe{out: out, drain: drain, after: after, broken: make(chan struct{}), open: map[string]*pending{}}
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
func (p *pipe) Write(b []byte) (n int, err error) {
	text := b
	if all, _ := heads(b); len(all) == 1 && all[0].answer() {
		text = p.answered(all[0], b)
	}
	p.mu.Lock()
	p.sending++
	p.mu.Unlock()
	if len(text) > 0 {
		_, err = p.send(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending--
	p.room.Broadcast()
	return len(b), err
}

// answered is what goes out when a request is answered: nothing where the client took it back, or
// others of its batch still run.
func (p *pipe) answered(h head, text []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.open[string(h.ID)]
	if a == nil {
		return text
	}
	delete(p.open, string(h.ID))
	if a.method == "initialize" && h.Result.Version != "" {
		p.old = h.Result.Version < noBatches
	}
	if a.drop {
		text = nil
	}
	if a.batch == nil {
		return text
	}
	if text = bytes.TrimSpace(text); len(text) > 0 {
		a.batch.answers = append(a.batch.answers, bytes.Clone(text))
	}
	if a.batch.left--; a.batch.left > 0 || len(a.batch.answers) == 0 {
		return nil
	}
	out, _ := json.Marshal(a.batch.answers) // they are JSON
	return append(out, '\n')
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
			id := &idFinder{}
			id.see(line)
			_ = r.Rest(func(piece []byte) error { id.see(piece); return nil }) // Next says what failed
			p.refuse(id.found(), jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message is longer than %d MiB", maxFrame>>20))
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

// take passes a line on, when it is a message and there is room; if false, nobody takes any more.
func (p *pipe) take(line []byte) bool {
	var any json.RawMessage
	if json.Unmarshal(line, &any) != nil {
		p.refuse(nil, jsonrpc.CodeParseError, "a line is not JSON")
		return true
	}
	all, several := heads(line)
	switch {
	case several && !p.batches():
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "not a JSON-RPC request; protocols since "+noBatches+" have no batches")
		return true
	case several && !goodBatch(line, all):
		p.refuse(nil, jsonrpc.CodeInvalidRequest, "not a batch of JSON-RPC requests")
		return true
	case several:
	default:
		if _, err := jsonrpc.DecodeMessage(line); err != nil {
			var id json.RawMessage
			if len(all) == 1 {
				id = all[0].ID
			}
			p.refuse(id, jsonrpc.CodeInvalidRequest, "not a JSON-RPC request")
			return true
		}
	}
	if !p.admit(all, several) {
		return true
	}
	messages := []json.RawMessage{line}
	if several {
		_ = json.Unmarshal(line, &messages) // goodBatch has read them
	}
	for _, one := range messages {
		if _, err := p.feed.Write(append(bytes.Clone(one), '\n')); err != nil {
			return false
		}
	}
	return true
}

func (p *pipe) batches() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.old
}

// goodBatch reports a batch of messages. Requests in it have different ids, and none begins the
// conversation.
func goodBatch(line []byte, all []head) bool {
	var texts []json.RawMessage
	if json.Unmarshal(line, &texts) != nil || len(texts) == 0 || len(texts) != len(all) || len(texts) > mostOpen {
		return false
	}
	ids := map[string]bool{}
	for i, text := range texts {
		if _, err := jsonrpc.DecodeMessage(text); err != nil || all[i].Method == "initialize" || all[i].call() && ids[string(all[i].ID)] {
			return false
		}
		ids[string(all[i].ID)] = true
	}
	return true
}

// admit counts requests that are to be answered; if false, they are answered here, because one of
// their ids is open or too many are. Waiting for room instead would keep the answers to our own
// questions from being read.
func (p *pipe) admit(all []head, several bool) bool {
	p.mu.Lock()
	var refused [][]byte
	for _, h := range all {
		switch {
		case h.Method == cancelled:
			if a := p.open[string(h.Params.RequestID)]; a != nil && a.method != "initialize" {
				a.drop = true
			}
		case !h.call():
		case p.open[string(h.ID)] != nil:
			refused = append(refused, refusal(nil, jsonrpc.CodeInvalidRequest, "a request with this id still runs"))
		case len(p.open)+len(all) > mostOpen:
			refused = append(refused, refusal(h.ID, codeBusy, fmt.Sprintf("%d requests wait for their answers; wait for some of them", mostOpen)))
		}
	}
	var group *batch
	if several {
		group = &batch{}
	}
	for _, h := range all {
		if h.call() && refused == nil {
			p.open[string(h.ID)] = &pending{method: h.Method, batch: group}
			if group != nil {
				group.left++
			}
		}
	}
	p.mu.Unlock()
	for _, raw := range refused {
		_, _ = p.send(raw) // a client that is gone is noticed elsewhere
	}
	return refused == nil
}

// codeBusy is of those that JSON-RPC leaves to servers.
const codeBusy = -32000

// refuse answers what is no message.
func (p *pipe) refuse(id json.RawMessage, code int64, why string) {
	_, _ = p.send(refusal(id, code, why)) // a client that is gone is noticed elsewhere
}

// ended waits a little for the answers that are under way, then tells the SDK.
func (p *pipe) ended() {
	timer := p.after(p.drain, func() {
		p.mu.Lock()
		p.end = true
		p.room.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	p.mu.Lock()
	for len(p.open)+p.sending > 0 && !p.end {
		p.room.Wait()
	}
	p.mu.Unlock()
	p.feed.Close()
}
