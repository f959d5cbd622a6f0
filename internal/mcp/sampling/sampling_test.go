package sampling

//lint:file-ignore SA1019 see sampling.go

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/testkit/mcptest"
	"adze/session"
	"adze/tool"
)

func TestMain(m *testing.M) {
	mcptest.Serve()
	os.Exit(m.Run())
}

// rig is a server that asks while its tool runs, a user, and a model.
type rig struct {
	desk *Desk
	pool *mcp.Pool
	set  *tool.Set

	mu      sync.Mutex
	answers []string // of the user
	shown   []Question
	asked   []session.Request
	told    []string
	answer  func(ctx context.Context, r session.Request) (session.Message, error)
}

func newRig(t *testing.T, may string) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{answer: func(context.Context, session.Request) (session.Message, error) {
		return session.Message{Parts: []session.Part{{Kind: session.TextPart, Text: "it is SECRET; blue. END more"}}, Usage: &session.Usage{Input: 5, Output: 2}}, nil
	}}
	r.desk = &Desk{
		Aside: func(ctx context.Context, server string) (context.Context, *mcp.Aside) {
			return r.pool.Aside(ctx, server)
		},
		Ask: r.ask, Mask: func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") },
		Model: &Model{Name: "acme/m", Blind: func() bool { return false }, Answer: func(ctx context.Context, q session.Request) (session.Message, error) {
			r.mu.Lock()
			r.asked = append(r.asked, q)
			r.mu.Unlock()
			return r.answer(ctx, q)
		}},
		Told: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = append(r.told, text)
		},
	}
	r.pool = mcp.New(mcp.Options{
		Version: "test", Dir: t.TempDir(), Env: os.Environ, Probe: 2 * time.Minute, Wait: 2 * time.Minute,
		Servers: []mcp.Server{{Name: "fake", Command: []string{self, mcptest.Word, "old"}, Start: 2 * time.Minute, Sampling: may}},
		Client:  func(server string, o *sdk.ClientOptions) { r.desk.Announce(server, may, o) },
	})
	t.Cleanup(r.pool.Close)
	if err := r.pool.Await(t.Context(), "fake"); err != nil {
		t.Fatal(err)
	}
	var registry tool.Registry
	if problems := r.pool.Enlist(&registry); len(problems) > 0 {
		t.Fatal(problems)
	}
	if r.set, err = registry.Tools(t.Context(), tool.Init{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) ask(_ context.Context, q Question) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = append(r.shown, q)
	if len(r.answers) == 0 {
		return "", errors.New("they closed it")
	}
	said := r.answers[0]
	r.answers = r.answers[1:]
	return said, nil
}

// call has the server's tool run with a text.
func (r *rig) call(ctx context.Context, text string) tool.Outcome {
	args, _ := json.Marshal(map[string]string{"text": text}) // texts encode
	runner := tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	return runner.Exec(ctx, runner.Hydrate(ctx, r.set, []tool.RawCall{{ID: "c", Name: "fake_echo", Arguments: string(args)}})[0])
}

// wants has the server ask, and looks at what it gets.
func (r *rig) wants(t *testing.T, params string, want ...string) tool.Outcome {
	t.Helper()
	o := r.call(t.Context(), "sample "+params)
	for _, w := range want {
		if !strings.Contains(o.Output, w) {
			t.Errorf("%.200s: %s %q, want %q", params, o.Status, o.Output, w)
		}
	}
	return o
}

func says(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":{"type":"text","text":%q}}`, role, text)
}

func params(rest string, messages ...string) string {
	return `{"maxTokens":9000` + rest + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func (r *rig) lines() (shown []Question, asked []session.Request, told []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown, r.asked, r.told
}

// The user sees the server, the model, the instructions and the question, and what they agree to
// is what the model gets.
func TestThePersonAgreesToWhatIsAsked(t *testing.T) {
	r := newRig(t, mcp.Ask)
	r.answers = []string{No, Once, Once, Session}
	ask := params(`,"systemPrompt":"Be \u001b[31mbrief","includeContext":"allServers","stopSequences":["END"]`, says("user", "hi"), says("assistant", "yes?"), says("user", "Which \u202ecolour, SECRET?"))
	r.wants(t, ask, `"code":-1`, "the person said no")
	o := r.wants(t, ask, `"text":"it is ***; blue. "`, `"model":"acme/m"`, `"stopReason":"stopSequence"`, `"role":"assistant"`)
	if !strings.Contains(string(o.Metadata), "asked acme/m (7 tokens): Which colour, ***?") {
		t.Errorf("the call tells %s", o.Metadata)
	}
	for range 2 { // the second is not put to the user
		r.wants(t, ask, "blue")
	}
	shown, asked, told := r.lines()
	if len(shown) != 4 || len(asked) != 3 || len(told) != 4 {
		t.Fatalf("%d questions, %d requests, told %q", len(shown), len(asked), told)
	}
	for _, w := range []string{"server fake", "acme/m", "4096 tokens", "instructions: Be [31mbrief\n", "assistant: yes?", "user: Which colour, ***?"} {
		if !strings.Contains(shown[0].Text, w) {
			t.Errorf("the person is shown %q, want %q", shown[0].Text, w)
		}
	}
	q := asked[0]
	if q.System != "Be [31mbrief" || q.MaxTokens != maxTokens || len(q.Tools) != 0 || q.Choice != session.ChooseNone || q.Messages[2].Text() != "Which colour, ***?" {
		t.Errorf("%+v", q)
	}
	if asked[1].Messages[0].ID == q.Messages[0].ID {
		t.Error("two requests have messages of one id")
	}
}

// Who says no again and again is left alone; with nobody there it is refused, unless the
// configuration allows it.
func TestWhoDoesNotAgreeIsNotAsked(t *testing.T) {
	r := newRig(t, mcp.Ask)
	r.answers = []string{"what?", No, No, Once}
	ask := params("", says("user", "hi"))
	for range 5 {
		r.wants(t, ask, "said no")
	}
	if shown, asked, _ := r.lines(); len(shown) != maxNo || len(asked) != 0 {
		t.Errorf("%d questions, %d requests", len(shown), len(asked))
	}
	r = newRig(t, mcp.Ask)
	r.desk.Ask = nil
	r.wants(t, ask, "nobody is here")
	if o := r.call(t.Context(), "still here"); o.Output != "still here" {
		t.Errorf("%s %s", o.Status, o.Output)
	}
	r = newRig(t, mcp.Allow)
	r.desk.Ask = nil
	r.wants(t, ask, "blue", "endTurn")
	if o := r.call(t.Context(), "capabilities"); !strings.Contains(o.Output, `"sampling":{}`) {
		t.Errorf("announced: %s", o.Output)
	}
	r = newRig(t, "")
	if o := r.call(t.Context(), "capabilities"); strings.Contains(o.Output, "sampling") {
		t.Errorf("announced: %s", o.Output)
	}
	r.wants(t, ask, `"code":`)
	if _, asked, _ := r.lines(); len(asked) != 0 {
		t.Error("a server that may not has asked the model")
	}
}

// What is too much, or of a kind that is not taken, is one clear refusal before anybody is asked.
func TestBoundsOfARequest(t *testing.T) {
	r := newRig(t, mcp.Allow)
	picture := func(kind, role string, data []byte) string {
		return fmt.Sprintf(`{"role":%q,"content":{"type":"image","mimeType":%q,"data":%q}}`, role, kind, base64.StdEncoding.EncodeToString(data))
	}
	png := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...)
	many := strings.Split(strings.TrimSuffix(strings.Repeat(says("user", "x")+"\n", maxMessages+1), "\n"), "\n")
	hi := says("user", "hi")
	for _, c := range []struct{ params, want string }{
		{params(""), "no message"},
		{params("", many...), "more than 50"},
		{params("", says("user", strings.Repeat("x", maxText+1))), "bytes of text"},
		{params(`,"systemPrompt":"`+strings.Repeat("x", maxText)+`"`, hi), "bytes of text"},
		{`{"maxTokens":0,"messages":[` + hi + `]}`, "maxTokens"},
		{`{"maxTokens":-5,"messages":[` + hi + `]}`, "maxTokens"},
		{params(`,"tools":[{"name":"x","inputSchema":{"type":"object"}}]`, hi), "tools are not"},
		{params("", says("system", "x")), "user or an assistant"},
		{params("", says("assistant", "x")), "last message"},
		{params("", says("user", "\u200b")), "empty"},
		{params("", picture("image/png", "user", []byte("<svg>"))), "PNG"},
		{params("", picture("image/png", "assistant", png), hi), "of a user"},
		{params("", picture("image/png", "user", append(png, make([]byte, maxPicture)...))), "is more than"},
		{params("", `{"role":"user","content":{"type":"audio","mimeType":"audio/wav","data":""}}`), "texts and pictures"},
		{params(`,"stopSequences":["1","2","3","4","5","6","7","8","9"]`, hi), "stop sequences"},
	} {
		r.wants(t, c.params, `"code":-32602`, c.want)
	}
	if _, asked, _ := r.lines(); len(asked) != 0 {
		t.Fatalf("%d requests", len(asked))
	}
	r.wants(t, params("", picture("image/svg", "user", png)), "blue")
	if _, asked, _ := r.lines(); asked[0].Messages[0].Parts[0].Attachment.MediaType != "image/png" {
		t.Errorf("%+v", asked[0].Messages[0])
	}
	r.desk.Model.Blind = func() bool { return true }
	r.wants(t, params("", picture("image/png", "user", png)), "no pictures")
	r.answer = func(context.Context, session.Request) (session.Message, error) {
		return session.Message{}, errors.New("key sk-1 is not valid")
	}
	if o := r.wants(t, params("", hi), "did not answer"); strings.Contains(o.Output, "sk-1") {
		t.Error("the server is told why:", o.Output)
	}
	for range maxRequests {
		r.call(t.Context(), "sample "+params("", hi))
	}
	r.wants(t, params("", hi), "in this session")
}

// A request ends with its call, and has ended when the call has.
func TestARequestEndsWithItsCall(t *testing.T) {
	r := newRig(t, mcp.Allow)
	ctx, abort := context.WithCancel(t.Context())
	var ended bool
	r.answer = func(ctx context.Context, _ session.Request) (session.Message, error) {
		abort()
		<-ctx.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		ended = true
		return session.Message{}, ctx.Err()
	}
	if o := r.call(ctx, "sample "+params("", says("user", "hi"))); o.Status != tool.Aborted {
		t.Errorf("%s %s", o.Status, o.Output)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ended {
		t.Error("the request goes on after its call")
	}
}

// With no call of the server's nobody is asked.
func TestNoCallNoRequest(t *testing.T) {
	r := newRig(t, mcp.Allow)
	_, err := r.desk.handle("fake", mcp.Allow)(t.Context(), &sdk.CreateMessageWithToolsRequest{Params: &sdk.CreateMessageWithToolsParams{}})
	if err == nil || !strings.Contains(err.Error(), "only while a call") {
		t.Error(err)
	}
}

// One request of a server is answered at a time, and a few wait.
func TestOneRequestAtATime(t *testing.T) {
	d := &Desk{}
	_, leave, err := d.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	refused := make(chan error, maxWaiting)
	for range maxWaiting {
		wait.Go(func() {
			_, _, err := d.enter(ctx, "a")
			refused <- err
		})
	}
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "wait already") {
		t.Error(err)
	}
	if _, _, err := d.enter(t.Context(), "b"); err != nil {
		t.Error("another server waits for it:", err)
	}
	cancel()
	wait.Wait()
	leave()
	if _, leave, err = d.enter(t.Context(), "a"); err != nil {
		t.Error(err)
	} else {
		leave()
	}
}
