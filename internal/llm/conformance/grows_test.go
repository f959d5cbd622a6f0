package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/testkit/llmtest"
	"adze/session"
	"adze/tool"
)

// longTurns is how many prompts the long session has, kinds how many kinds of turns it goes
// through.
const longTurns, kinds = 50, 10

// Kinds of turns: what happens in them beside calls that are completed.
const (
	plainTurn = iota
	failedTurn
	deniedTurn
	abortedTurn  // the user aborts a call
	attachedTurn // to the prompt
	shownTurn    // a result with attachments
	steeredTurn
	silentTurn      // no calls
	refusedTurn     // the provider refuses the request
	interruptedTurn // the user stops the answer
)

// grows tries that over 50 turns of a real session, with every way in which a call, an answer and a
// turn can end, each request begins with the bytes of the one before, system prompt and tools
// included; also after the session was loaded again by another process. What may differ is what
// Wire.Grown takes away: closing brackets, Anthropic's cache markers, Ollama's options behind the
// messages.
func grows(t *testing.T, w Wire) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	g := &growth{t: t, store: &memory{}}
	server := newStrict(t, w, g.reply)
	defer server.Close()
	g.client = &http.Client{Transport: refusing{w, &g.refuse}}
	g.provider = func() session.Provider {
		return w.New(Options{BaseURL: server.URL, HTTP: g.client, NewID: g.mint("r")})
	}
	s := session.New(g.config())
	for turn := range longTurns {
		g.play(s, turn)
	}
	g.complete()
	inOneProcess := len(server.bodies)
	again, err := session.Resume(t.Context(), g.config())
	if err != nil {
		t.Fatal(err)
	}
	g.play(again, longTurns)
	prefixes(t, w, server.bodies, inOneProcess)
	if n := len(server.bodies); n < 2*longTurns*4/5 {
		t.Errorf("only %d requests", n)
	}
	for _, late := range []string{"late note of prompt 6", "late note of step 6"} {
		if n := bytes.Count(server.bodies[inOneProcess-1], []byte(late)); n != 1 {
			t.Errorf("%q stands %d times in a request, want once", late, n)
		}
	}
	last := string(server.bodies[inOneProcess-1])
	for what, part := range map[string]string{
		"the image": llmtest.PixelText, "the document or its note": "a.pdf", "the note of a binary": "attachment a.bin", "the person's file": "[n.txt]",
	} {
		if !strings.Contains(last, part) {
			t.Errorf("%s is not in the request", what)
		}
	}
	if tools := server.seen[inOneProcess-1].Tools; !slices.Equal(tools, []string{"read", "todoread"}) {
		t.Errorf("tools %q", tools)
	}
	if len(g.changes) > 0 {
		t.Errorf("the session's own guard says %v", g.changes)
	}
}

// prefixes checks that each request begins with the one before.
func prefixes(t *testing.T, w Wire, bodies [][]byte, inOneProcess int) {
	for i := 1; i < len(bodies); i++ {
		before, after := w.Grown(bodies[i-1]), w.Grown(bodies[i])
		if !bytes.HasPrefix(after, before) || len(before) < 100 {
			at := differ(before, after)
			t.Fatalf("request %d of %d (resumed at %d) does not begin with the one before, from byte %d on:\n%.300s\n%.300s",
				i, len(bodies), inOneProcess, at, before[max(at-80, 0):], after[max(at-80, 0):])
		}
	}
}

// differ is the first byte in which two texts differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// growth is the user, the tools and the model of the long session.
type growth struct {
	t        *testing.T
	store    *memory
	client   *http.Client
	provider func() session.Provider
	refuse   atomic.Bool
	minted   int

	mu         sync.Mutex
	turn, step int
	outcomes   map[tool.Status]int
	changes    []session.PrefixChange
	onEvent    func(session.Event)
}

func (g *growth) mint(prefix string) func() string {
	return func() string { g.minted++; return fmt.Sprint(prefix, g.minted) }
}

// reply is what the model says: thinking, text and calls first, then an answer.
func (g *growth) reply(int) Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	turn, step := g.turn, g.step
	g.step++
	a := Answer{Reasoning: fmt.Sprintf("Thinking <about> %d & \"more\".", turn), Text: fmt.Sprintf("Step %d of turn %d: <ok> & \u00e9\u4e16.", step, turn), Piece: 7,
		Usage: session.Usage{Input: 100 + turn, Output: 9}}
	if step > 0 || turn%kinds == silentTurn {
		return a
	}
	for i := range turn%3 + 1 {
		a.Calls = append(a.Calls, Call{ID: fmt.Sprintf("call_%d_%d", turn, i), Name: "read", Arguments: fmt.Sprintf(`{"path":"<%d>.txt","kind":%d}`, i, turn%kinds)})
	}
	a.Calls = append(a.Calls, Call{ID: fmt.Sprintf("bad_%d", turn), Name: "read", Arguments: `{"path":5}`}, Call{ID: fmt.Sprintf("none_%d", turn), Name: "not_there", Arguments: `{}`})
	if turn%4 == 1 {
		a.Reasoning, a.Text = "", ""
	}
	return a
}

// play runs one turn.
func (g *growth) play(s *session.Session, turn int) {
	ctx, cancel := context.WithCancelCause(g.t.Context())
	defer cancel(nil)
	kind := turn % kinds
	in := session.Input{Text: fmt.Sprintf("Do turn %d.", turn)}
	if kind == attachedTurn {
		in.Attachments = media(turn)
	}
	g.mu.Lock()
	g.turn, g.step = turn, 0
	g.onEvent = func(e session.Event) {
		switch e := e.(type) {
		case session.ToolStart:
			switch {
			case kind == abortedTurn:
				s.CancelCall(e.Call)
			case kind == steeredTurn:
				s.Steer(fmt.Sprintf("Mind the tests of %s.", e.Call))
			}
		case session.TextDelta:
			if kind == interruptedTurn {
				cancel(session.ErrInterrupted)
			}
		}
	}
	g.mu.Unlock()
	g.refuse.Store(kind == refusedTurn)
	r := s.Prompt(ctx, in)
	want := map[int]session.Cause{refusedTurn: session.CauseProvider, interruptedTurn: session.CauseInterrupted}[kind]
	if want == "" {
		want = session.CauseDone
	}
	if r.Cause != want {
		g.t.Fatalf("turn %d ended with %s (%s), want %s", turn, r.Cause, r.Message, want)
	}
	if kind == silentTurn {
		s.Run(g.t.Context(), tool.RawCall{Name: "read", Arguments: `{"path":"own"}`}, func(o tool.Outcome) string { return "I ran this: " + o.Output })
	}
}

// notes are told at every third prompt, and with every third turn's outcomes.
func (g *growth) notes(_ context.Context, s session.Step) []session.Note {
	g.mu.Lock()
	defer g.mu.Unlock()
	when := "step"
	if s.Prompt != nil {
		when = "prompt"
	}
	if g.turn%3 != 0 {
		return nil
	}
	text := fmt.Sprintf("A late note of %s %d: <always> & \"never\".", when, g.turn)
	return []session.Note{{Kind: session.InstructionsNote, Source: when + "/<a>.md", Text: text}, {Kind: session.HookNote, Source: "hook", Text: "more of it"}}
}

// complete checks that the session held what it is for.
func (g *growth) complete() {
	for _, s := range []tool.Status{tool.Completed, tool.Failed, tool.Invalid, tool.Denied, tool.Aborted} {
		if g.outcomes[s] < 5 {
			g.t.Errorf("only %d outcomes are %s: %v", g.outcomes[s], s, g.outcomes)
		}
	}
}

func (g *growth) observe(e session.Event) {
	g.mu.Lock()
	on := g.onEvent
	switch e := e.(type) {
	case session.ToolEnd:
		g.outcomes[e.Outcome.Status]++
	case session.PrefixChanged:
		g.changes = append(g.changes, e.Change)
	}
	g.mu.Unlock()
	on(e)
}

// media are attachments of every kind, in late turns: pictures and documents of early ones would be
// left out later, which changes requests.
func media(turn int) []tool.Attachment {
	if turn < longTurns*4/5 {
		return nil
	}
	return []tool.Attachment{
		{Name: "a.png", MediaType: "image/png", Data: llmtest.Pixel()},
		{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")},
		{Name: "n.txt", MediaType: "text/plain", Data: []byte("a <note> & more")},
		{Name: "a.bin", MediaType: "application/octet-stream", Data: []byte{0}},
	}
}

type readArgs struct {
	Path string `json:"path"`
	Kind int    `json:"kind,omitempty"`
}

// config is that of a fresh process: nothing but the store is kept.
func (g *growth) config() session.Config {
	var registry tool.Registry
	read := tool.Define("read", tool.Config[readArgs, struct{}]{
		Description: "Reads <a file> & shows it.", Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
		Needs: func(in readArgs) []tool.Need { return []tool.Need{{Permission: tool.Read, Target: in.Path}} },
		Run: func(ctx context.Context, _ tool.Context[struct{}], in readArgs) (tool.Result[struct{}], error) {
			r := tool.Result[struct{}]{Output: fmt.Sprintf("%s: <output> of %d", in.Path, in.Kind)}
			switch in.Kind {
			case failedTurn:
				return r, errors.New("no such <file>")
			case abortedTurn:
				<-ctx.Done()
				return r, context.Cause(ctx)
			case shownTurn:
				r.Attachments = media(g.turn)
			}
			return r, nil
		},
	})
	todo := tool.Define("todoread", tool.Config[struct{}, struct{}]{
		Description: "Reads the list.", Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[struct{}], struct{}) (tool.Result[struct{}], error) {
			return tool.Result[struct{}]{}, nil
		},
	})
	for _, each := range []tool.Tool{read, todo} {
		if err := registry.Register(each); err != nil {
			g.t.Fatal(err)
		}
	}
	set, err := registry.Tools(g.t.Context(), tool.Init{})
	if err != nil {
		g.t.Fatal(err)
	}
	if g.outcomes == nil {
		g.outcomes = map[tool.Status]int{}
	}
	return session.Config{
		Identity: session.Identity{ID: "long", Start: session.Start{Version: "test", Model: "p/m", System: "be brief, <always> & ever", Tools: set.Digest()}},
		Requests: session.Requests{Provider: g.provider(), Model: "m", Notes: g.notes},
		Calls: session.Calls{Tools: set, Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			return tool.Decision{Allow: g.turn%kinds != deniedTurn, Reason: "not <now>"}, nil
		})},
		Storage: session.Storage{Store: g.store},
		Host:    session.Host{Observe: g.observe},
	}
}
