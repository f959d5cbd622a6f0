package lineprotocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/stream/lineprotocol"
	"adze/session"
	"adze/tool"
)

// partner is a conversation that is written down; turn is what a prompt does.
type partner struct {
	mu    sync.Mutex
	open  bool
	heard []string
	turn  func(ctx context.Context, p lineprotocol.Prompt) session.Result
}

func (p *partner) Prompt(ctx context.Context, prompt lineprotocol.Prompt) session.Result {
	p.mu.Lock()
	p.open = true
	p.heard = append(p.heard, prompt.Text)
	for _, a := range prompt.Files {
		p.heard = append(p.heard, a.Name+" "+a.MediaType)
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.open = false
		p.mu.Unlock()
	}()
	return p.turn(ctx, prompt)
}

func (p *partner) Steer(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (p *partner) CancelCall(id tool.CallID) bool { return id == "running" }

func (p *partner) Set(mode, effort string) error {
	if mode == "wild" {
		return errors.New("there is no such mode")
	}
	p.note("set " + mode + effort)
	return nil
}

func (p *partner) Model(_ context.Context, name string) error {
	if name == "nobody/knows" {
		return errors.New("there is no such model")
	}
	p.note("model " + name)
	return nil
}

func (p *partner) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, what)
}

// written is what a program reads.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// all are the lines of a type.
func (w *written) all(t *testing.T, kind string) (out []map[string]any) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.b.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if l["type"] == kind {
			out = append(out, l)
		}
	}
	return out
}

func newTalk() (*lineprotocol.Talk, *written) {
	w := &written{}
	return lineprotocol.New(&stream.Printer{Out: w, Err: io.Discard, Format: stream.StreamJSON}), w
}

func done(context.Context, lineprotocol.Prompt) session.Result {
	return session.Result{Cause: session.CauseDone, Steps: 1}
}

// TestEveryLineHasOneEffectOrIsRefused: whatever comes, each line is a prompt, or is refused by its
// number.
func TestEveryLineHasOneEffectOrIsRefused(t *testing.T) {
	good := []string{`{"type":"prompt","text":"a"}`, `{"type":"steer","text":"b"}`, ` {"text":"c","type":"prompt","id":"x"} `,
		`{"type":"user","session_id":"1","message":{"role":"user","content":"d"}}`}
	bad := []string{`{`, `[]`, `null`, `"prompt"`, `{"type":7}`, `{}`, `{"type":"prompt"}`, `{"type":"prompt","text":" "}`, `{"type":"prompt","text":1}`,
		`{"type":"prompt","text":"a","x":1}`, `{"type":"answer","question":"q9","choice":"once"}`, `{"type":"abort","call":"other"}`,
		`{"type":"user","message":{"content":[{"type":"image"}]}}`, `{"type":"user"}`, "\xff\xfe", `{"type":"prompt","text":"a"} {"type":"prompt","text":"b"}`,
		strings.Repeat("x", 16<<20+1)}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var in strings.Builder
		var refused []float64
		prompts := 0
		for n := 1; n <= 30; n++ {
			end := "\n"
			switch k := r.IntN(3); {
			case k == 0:
				in.WriteString(good[r.IntN(len(good))] + end)
				prompts++
			case k == 1 && (seed == 0 || n > 3):
				i := r.IntN(len(bad))
				if seed > 0 && i == len(bad)-1 {
					i = 0 // the long one costs time
				}
				in.WriteString(bad[i] + end)
				refused = append(refused, float64(n))
			default:
				in.WriteString([]string{"", "  ", "\t"}[r.IntN(3)] + end)
			}
		}
		tk, out := newTalk()
		with := &partner{turn: done}
		res := tk.Run(t.Context(), strings.NewReader(in.String()), with)
		var got []float64
		for _, l := range out.all(t, "unread") {
			got = append(got, l["line"].(float64))
		}
		if fmt.Sprint(got) != fmt.Sprint(refused) {
			t.Fatalf("seed %d: refused %v, want %v", seed, got, refused)
		}
		if len(with.heard) != prompts || prompts > 0 && res.Steps != prompts || len(out.all(t, "turn")) != prompts {
			t.Fatalf("seed %d: %d prompts, heard %d, sum %d", seed, prompts, len(with.heard), res.Steps)
		}
	}
}

// TestARemarkIsNeverLostNorSaidTwice: it is read by the turn, or is the next prompt.
func TestARemarkIsNeverLostNorSaidTwice(t *testing.T) {
	for name, c := range map[string]struct {
		read bool
		want string
	}{"read by the turn": {true, "go"}, "the turn was over": {false, "go remark"}} {
		t.Run(name, func(t *testing.T) {
			tk, _ := newTalk()
			r, w := io.Pipe()
			with := &partner{}
			with.turn = func(ctx context.Context, p lineprotocol.Prompt) session.Result {
				if p.Text == "go" {
					io.WriteString(w, `{"type":"steer","text":"remark"}`+"\n")
					w.Close()
					answer(t, tk) // the line before it was taken when this one is refused
					if c.read {
						tk.HandleEvent(session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "remark"}}}})
					}
				}
				return done(ctx, p)
			}
			tk.Run(t.Context(), r, with, lineprotocol.Prompt{Text: "go"})
			if got := strings.Join(with.heard, " "); got != c.want {
				t.Errorf("heard %q, want %q", got, c.want)
			}
		})
	}
}

// answer waits until stdin has ended: from then on nobody can be asked.
func answer(t *testing.T, tk *lineprotocol.Talk) {
	t.Helper()
	for {
		if _, err := tk.Inquire(t.Context(), ask.Question{Text: "?"}); errors.Is(err, lineprotocol.ErrNobody) {
			return
		}
	}
}

func TestAnAbortEndsAQuestionAndOnlyItsTurn(t *testing.T) {
	tk, out := newTalk()
	r, w := io.Pipe()
	with := &partner{}
	asked := make(chan error, 1)
	with.turn = func(ctx context.Context, p lineprotocol.Prompt) session.Result {
		if p.Text == "go" {
			go io.WriteString(w, `{"type":"abort"}`+"\n"+`{"type":"answer","question":"q1","choice":"once"}`+"\n"+`{"type":"prompt","text":"on"}`+"\n")
			_, err := tk.Ask(ctx, ask.Permission{})
			asked <- err
			return session.Sort(context.Cause(ctx))
		}
		w.Close()
		return done(ctx, p)
	}
	res := tk.Run(t.Context(), r, with, lineprotocol.Prompt{Text: "go"})
	if err := <-asked; !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("the question ended with %v", err)
	}
	if strings.Join(with.heard, " ") != "go on" || res.Cause != session.CauseDone {
		t.Errorf("heard %q, %v", with.heard, res.Cause)
	}
	if turns := out.all(t, "turn"); len(turns) != 2 || turns[0]["cause"] != "interrupted" {
		t.Errorf("turns %v", turns)
	}
}

// TestTheEndOfTheRunEndsTheConversation: a signal, or a reader that is gone, does not wait for
// stdin.
func TestTheEndOfTheRunEndsTheConversation(t *testing.T) {
	tk, _ := newTalk()
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	with := &partner{turn: func(ctx context.Context, p lineprotocol.Prompt) session.Result {
		cancel(session.ErrInterrupted)
		return session.Sort(context.Cause(ctx))
	}}
	if res := tk.Run(ctx, r, with, lineprotocol.Prompt{Text: "go"}, lineprotocol.Prompt{Text: "never"}); res.Cause != session.CauseInterrupted || len(with.heard) != 1 {
		t.Errorf("%v after %q", res.Cause, with.heard)
	}
}

func TestSumsOfTurns(t *testing.T) {
	tk, _ := newTalk()
	cost := 0.25
	with := &partner{turn: func(_ context.Context, p lineprotocol.Prompt) session.Result {
		return session.Result{Cause: session.CauseDone, Text: p.Text, Steps: 2, Cost: &cost, Usage: map[string]session.Usage{"p/m": {Input: 3, Output: 1}},
			Calls: map[string]map[tool.Status]int{"read": {tool.Completed: 1}}, Changed: []string{"a", p.Text}}
	}}
	got := tk.Run(t.Context(), strings.NewReader(""), with, lineprotocol.Prompt{Text: "b"}, lineprotocol.Prompt{Text: "c"})
	if got.Text != "c" || got.Steps != 4 || *got.Cost != 0.5 || got.Usage["p/m"].Input != 6 || got.Calls["read"][tool.Completed] != 2 || fmt.Sprint(got.Changed) != "[a b c]" {
		t.Errorf("sum: %+v", got)
	}
}

// TestRefusalsNameNoTypeOfGo: whoever writes lines knows JSON, and none of our types.
func TestRefusalsNameNoTypeOfGo(t *testing.T) {
	for line, want := range map[string]string{
		`[1]`:                           "it has to be an object, and is a list",
		`7`:                             "it has to be an object, and is a number",
		`{"type":7}`:                    `"type" has to be a string, and is a number`,
		`{"type":"prompt","text":true}`: `"text" has to be a string, and is true or false`,
		`{"type":"prompt","text":"a","attach":1}`:                                `"attach" has to be a list, and is a number`,
		`{"type":"prompt","text":"a","attach":[{}]}`:                             `"attach" has to be a string, and is an object`,
		`{"type":"answer","question":"q1","choice":"once","offer":""}`:           `"offer" has to be a whole number, and is a string`,
		`{"type":"answer","question":"q1","refused":1.5}`:                        `"refused" has to be a list, and is a number`,
		`{"type":"user","message":5}`:                                            `"message" has to be an object, and is a number`,
		`{"type":"user","message":{"content":{}}}`:                               "no content that can be read",
		`{"type":"user","message":{"content":[{"type":"audio"}]}}`:               `of type "audio" is not taken`,
		`{"type":"user","message":{"content":[{"type":"image"}]}}`:               "holds no data",
		`{"type":"user","message":{"content":[{"type":"image","data":"YQ=="}]}}`: "neither a picture nor a PDF",
		`{"type":"set"}`: "sets nothing",
		`{"type":"set","permission_mode":"wild"}`: "no such mode",
		`{"type":"set","model":"nobody/knows"}`:   "no such model",
		`{`:                                       "it is no JSON",
	} {
		tk, out := newTalk()
		tk.Run(t.Context(), strings.NewReader(line+"\n"+`{"type":"prompt","text":"on"}`+"\n"), &partner{turn: done})
		lines := out.all(t, "unread")
		if len(lines) != 1 {
			t.Errorf("%s: refused %d times", line, len(lines))
			continue
		}
		said := fmt.Sprint(lines[0]["message"], " ", lines[0]["hint"])
		if !strings.Contains(said, want) || strings.Contains(said, "Go ") || strings.Contains(said, "struct") || strings.Contains(said, "talk.") || lines[0]["line"] != 1.0 {
			t.Errorf("%s: refused with %v, want %q", line, lines[0], want)
		}
	}
}

// TestAModelWaitsForThePromptsBeforeIt: a mode holds at once.
func TestAModelWaitsForThePromptsBeforeIt(t *testing.T) {
	tk, _ := newTalk()
	with := &partner{turn: done}
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, `{"type":"set","permission_mode":"edits"}`+"\n"+`{"type":"prompt","text":"a"}`+"\n"+`{"type":"set","model":"p/m"}`+"\n"+`{"type":"user","message":{"content":[{"type":"text","text":"b"},{"type":"image","source":{"data":"iVBORw0KGgo="}}]}}`+"\n")
		w.Close()
	}()
	res := tk.Run(t.Context(), r, with)
	if got := strings.Join(with.heard, ", "); got != "set edits, a, model p/m, b, image 2 image/png" || res.Steps != 2 {
		t.Errorf("%s; %d turns", got, res.Steps)
	}
}
