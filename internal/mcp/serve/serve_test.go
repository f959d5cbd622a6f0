package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/policy"
	"adze/tool"
)

// fakeRunner is a written Runner whose tools do what their names say.
type fakeRunner struct {
	ask    func(ctx context.Context) (policy.Answer, error)
	begun  chan string // names of calls that hang
	mu     sync.Mutex
	ended  []string // why calls that hang ended
	closed int
}

func (d *fakeRunner) Session() string { return "s1" }

func (d *fakeRunner) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed++
}

func (d *fakeRunner) Call(ctx context.Context, client string, c tool.RawCall, tell func(string)) tool.Outcome {
	o := tool.Outcome{Call: c.ID, Tool: c.Name, Status: tool.Completed, Output: client + " " + c.Arguments}
	switch c.Name {
	case "ask":
		a, err := d.ask(ctx)
		if o.Output = fmt.Sprintf("%s %v %v", a.Choice, a.Reason, err); a.Choice != policy.Once && a.Choice != policy.Session {
			o.Status, o.Code = tool.Denied, tool.CodeDenied
		}
	case "hang":
		tell("hangs")
		d.begun <- c.Name
		<-ctx.Done()
		d.mu.Lock()
		d.ended = append(d.ended, fmt.Sprint(context.Cause(ctx)))
		d.mu.Unlock()
		o.Status = tool.Aborted
	case "look":
		o.Attachments = []tool.Attachment{{Name: "a.png", MediaType: "image/png", Data: []byte("png")}, {Name: "b c.pdf", MediaType: "application/pdf", Data: []byte("pdf")}}
	}
	return o
}

func (d *fakeRunner) count() (ended, closed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ended), d.closed
}

func definitions() (out []tool.Definition) {
	for _, name := range []string{"ask", "hang", "look", "odd"} {
		out = append(out, tool.Definition{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`), Permissions: tool.Requires(tool.Read)})
	}
	out[1].Permissions = tool.Requires(tool.Execute)
	out[3].Parameters = nil // one without a schema
	return out
}

// offers is what the gate would grant.
var offers = policy.Prompt{
	Items:  []policy.Item{{Need: tool.Need{Permission: tool.Execute, Target: "go test \x1b[2J"}, Reason: "it is not allowed yet"}},
	Offers: []policy.Offer{{Kind: policy.ExactOffer, Rules: []string{"allow execute(go test)"}, Covers: "go test"}},
}

// newServer is a server with one fakeRunner for all.
func newServer(t *testing.T) (*Server, *fakeRunner) {
	t.Helper()
	d := &fakeRunner{begun: make(chan string, 64)}
	s := New(Options{Version: "1", Tools: definitions(), Open: func(context.Context) (Runner, error) { return d, nil },
		Mask: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }})
	d.ask = func(ctx context.Context) (policy.Answer, error) {
		return s.Ask(ctx, tool.Question{Tool: tool.Definition{Name: "bash"}}, offers)
	}
	return s, d
}

// answers makes the user at a client.
func answers(action, word string) *mcp.ClientOptions {
	return &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if strings.ContainsRune(r.Params.Message, '\x1b') || !strings.Contains(r.Params.Message, "go test") {
			return nil, fmt.Errorf("asked %q", r.Params.Message)
		}
		content := map[string]any{"answer": word, "reason": "because"}
		if word == "" {
			content = nil
		}
		return &mcp.ElicitResult{Action: action, Content: content}, nil
	}}
}

var eras = []string{"2025-11-25", "2026-07-28"}

// piped connects a client over pipes.
func piped(t *testing.T, s *Server, era string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	over := make(chan error, 1)
	go func() { over <- s.Pipe(t.Context(), in, out); out.Close(); in.Close() }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "2"}, o).Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); <-over })
	return c
}

func textOf(r *mcp.CallToolResult) string {
	if len(r.Content) == 0 {
		return ""
	}
	text, _ := r.Content[0].(*mcp.TextContent)
	if text == nil {
		return ""
	}
	return text.Text
}

func TestAQuestionIsAnsweredAtTheClient(t *testing.T) {
	for _, era := range eras {
		for _, c := range []struct {
			name   string
			o      *mcp.ClientOptions
			want   string
			denied bool
		}{
			{"once", answers("accept", "once"), "once  <nil>", false},
			{"session", answers("accept", "session"), "session  <nil>", false},
			{"no", answers("accept", "no"), "no because <nil>", true},
			{"another word", answers("accept", "yes"), " ", true},
			{"no word", answers("accept", ""), " ", true},
			{"declined", answers("decline", ""), "no  <nil>", true},
			{"closed", answers("cancel", "once"), "no because <nil>", true},
			{"nobody", &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}, "nobody is there to ask\nThis client takes no questions, so that nobody could be asked. To allow it, start adze mcp serve with --allow 'execute(go test)'", true},
		} {
			t.Run(era+" "+c.name, func(t *testing.T) {
				s, _ := newServer(t)
				r, err := piped(t, s, era, c.o).CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
				if err != nil && c.name == "another word" {
					return // the client's own library refuses it
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.IsError != c.denied || !strings.Contains(textOf(r), c.want) {
					t.Errorf("error %t: %q, want %q", r.IsError, textOf(r), c.want)
				}
			})
		}
	}
}

func TestWhatIsOffered(t *testing.T) {
	for _, era := range eras {
		s, _ := newServer(t)
		c := piped(t, s, era, nil)
		list, err := c.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 4 {
			t.Fatal(list, err)
		}
		byName := map[string]*mcp.Tool{}
		for _, each := range list.Tools {
			byName[each.Name] = each
		}
		if a := byName["hang"].Annotations; a.ReadOnlyHint || !*a.DestructiveHint || !*a.OpenWorldHint {
			t.Errorf("what runs programs is said to be %+v", a)
		}
		if a := byName["look"].Annotations; !a.ReadOnlyHint || *a.DestructiveHint || *a.OpenWorldHint {
			t.Errorf("what reads is said to be %+v", a)
		}
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "look"})
		if err != nil || len(r.Content) != 3 || textOf(r) != "tester 2 {}" || r.Meta["adze/status"] != "completed" {
			t.Fatalf("%+v %v", r, err)
		}
		if p, ok := r.Content[1].(*mcp.ImageContent); !ok || string(p.Data) != "png" || p.MIMEType != "image/png" {
			t.Errorf("the picture is %+v", r.Content[1])
		}
		if p, ok := r.Content[2].(*mcp.EmbeddedResource); !ok || string(p.Resource.Blob) != "pdf" || p.Resource.URI != "attachment:b%20c.pdf" {
			t.Errorf("the document is %+v", r.Content[2])
		}
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "other"}); err == nil {
			t.Error("a tool that is not offered was called")
		}
	}
}

// The order of a schema is the author's.
func TestSchemasAreSentAsTheyAre(t *testing.T) {
	s, _ := newServer(t)
	out := &lines{}
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	_ = s.Pipe(t.Context(), strings.NewReader(in), out)
	if !strings.Contains(out.String(), `{"type":"object","properties":{"z":{},"a":{}}}`) {
		t.Error(out.String())
	}
}

func TestACallIsTakenBack(t *testing.T) {
	for _, era := range eras {
		s, d := newServer(t)
		told := make(chan string, 8)
		c := piped(t, s, era, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message }})
		for round := 1; round <= 30; round++ { // what a call tells first must not come before somebody listens
			ctx, cancel := context.WithCancel(t.Context())
			p := &mcp.CallToolParams{Name: "hang"}
			p.SetProgressToken(fmt.Sprint("p", round))
			over := make(chan error, 1)
			go func() { _, err := c.CallTool(ctx, p); over <- err }()
			if got := <-told; got != "hangs" {
				t.Errorf("told %q", got)
			}
			<-d.begun
			cancel()
			<-over
			eventually(t, "the call ends", func() bool { n, _ := d.count(); return n == round })
		}
	}
}

// A client that goes while it is asked, or while a call runs, leaves nothing behind.
func TestAClientGoes(t *testing.T) {
	for _, era := range eras {
		s, d := newServer(t)
		s.drain = time.Millisecond
		asked := make(chan bool, 1)
		c := piped(t, s, era, &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- true
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		go c.CallTool(ctx, &mcp.CallToolParams{Name: "hang"})
		go c.CallTool(ctx, &mcp.CallToolParams{Name: "ask"})
		<-d.begun
		<-asked
		cancel()
		c.Close()
		eventually(t, "the fakeRunner is closed", func() bool { ended, closed := d.count(); return ended == 1 && closed == 1 })
	}
}

// eventually waits for what other goroutines do.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came about that", what)
		}
	}
}

// lines is a writer for many.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(b) }
func (l *lines) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// What is no message is answered, and the next line is read.
func TestGarbageOnThePipe(t *testing.T) {
	s, _ := newServer(t)
	in := strings.Join([]string{
		"", "\x00\xff\xfe", "{", "[]", "[1]", "null", "12", `"x"`, `{"a":1}`, `{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":"r","result":{}}`, `[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, `{"jsonrpc":"2.0","id":4,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":6,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		strings.Repeat("[", 100_000), strings.Repeat("x", maxFrame+9),
		`{"jsonrpc":"2.0","id":99,"method":"ping"}`,
	}, "\n")
	out := &lines{}
	if err := s.Pipe(t.Context(), strings.NewReader(in), out); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("the server wrote %q", line)
		}
		if got[string(m.ID)]++; string(m.ID) != "null" && got[string(m.ID)] > 1 {
			t.Errorf("%s is answered twice", m.ID)
		}
	}
	for _, id := range []string{"1", "4", "5", "6", "99"} {
		if got[id] != 1 {
			t.Errorf("request %s has %d answers in\n%.4000s", id, got[id], out)
		}
	}
	if got["null"] < 10 {
		t.Errorf("%d lines of garbage were answered", got["null"])
	}
}

// More than so many calls at once are refused.
func TestAFloodOfCalls(t *testing.T) {
	s, d := newServer(t)
	c := piped(t, s, "2025-11-25", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range mostCalls {
		go c.CallTool(ctx, &mcp.CallToolParams{Name: "hang"})
		<-d.begun
	}
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "look"})
	if err != nil || !r.IsError || !strings.Contains(textOf(r), "128 calls of this client run") {
		t.Errorf("%+v %v", r, err)
	}
}

// A client that reads nothing holds up its own answers, and is let go all the same.
func TestAClientThatDoesNotRead(t *testing.T) {
	s, d := newServer(t)
	s.drain = time.Millisecond
	in, client := io.Pipe()
	_, out := io.Pipe() // nobody reads
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- s.Pipe(ctx, in, out) }()
	go fmt.Fprintln(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	go func() {
		for i := range 50 {
			fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","_meta":{"progressToken":1}}}`+"\n", i+1)
		}
	}()
	cancel()
	<-over
	ended, _ := d.count()
	eventually(t, "all has ended", func() bool { n, _ := d.count(); return n == ended })
}

// The answer to a question is good for one call, once.
func TestAnAnswerIsGoodOnce(t *testing.T) {
	s, _ := newServer(t)
	c := piped(t, s, "2026-07-28", &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, ElicitationHandler: answers("accept", "once").ElicitationHandler})
	call := func(p *mcp.CallToolParams) (*mcp.CallToolResult, error) { return c.CallTool(t.Context(), p) }
	yes := mcp.InputResponseMap{permissionKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}}
	first, err := call(&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"n": 1}})
	if err != nil || !first.NeedsInput() || first.RequestState == "" {
		t.Fatalf("%+v %v", first, err)
	}
	if r, err := call(&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"n": 2}, RequestState: first.RequestState, InputResponses: yes}); err == nil {
		t.Errorf("another call took the answer: %+v", r)
	}
	if r, err := call(&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"n": 1}, RequestState: first.RequestState, InputResponses: yes}); err == nil {
		t.Errorf("the answer was taken twice: %+v", r)
	}
	second, err := call(&mcp.CallToolParams{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := call(&mcp.CallToolParams{Name: "ask", RequestState: second.RequestState}); err != nil || !r.IsError {
		t.Errorf("no answer at all came to %+v %v", r, err)
	}
	if second, err = call(&mcp.CallToolParams{Name: "ask"}); err != nil {
		t.Fatal(err)
	}
	word := mcp.InputResponseMap{permissionKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "ONCE"}}}
	if r, err := call(&mcp.CallToolParams{Name: "ask", RequestState: second.RequestState, InputResponses: word}); err != nil || !r.IsError {
		t.Errorf("a word that was no choice came to %+v %v", r, err)
	}
	if r, err := call(&mcp.CallToolParams{Name: "ask", RequestState: "made up", InputResponses: yes}); err == nil {
		t.Errorf("a state that nobody gave out: %+v", r)
	}
	s.patience = time.Millisecond
	third, err := call(&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"n": 3}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody waits for the answer", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.waiting) == 0 })
	if _, err := call(&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"n": 3}, RequestState: third.RequestState, InputResponses: yes}); err == nil {
		t.Error("an answer that came too late was taken")
	}
}

func TestTheNewestIsTold(t *testing.T) {
	tl := &reporter{wake: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
	var got []string
	first := make(chan bool)
	go tl.run(func(n int, text string) error {
		got = append(got, fmt.Sprint(n, text))
		if n == 1 {
			for i := range 1000 {
				tl.say(fmt.Sprint("x", i))
			}
			close(first)
		}
		return nil
	})
	tl.say("a")
	<-first
	eventually(t, "the wish is taken", func() bool { return len(tl.wake) == 0 })
	tl.close()
	if len(got) > 2 || got[0] != "1a" || len(got) == 2 && got[1] != "2x999" || !slices.IsSorted(got) {
		t.Errorf("told %q", got)
	}
}
