package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

// author is a model that answers at random: text, thinking, calls, and now and then it breaks off.
type author struct {
	*rand.Rand
	calls int
	over  int // requests until the turn ends
}

func (a *author) Name() string { return "author" }

func (a *author) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		if len(r.Tools) == 0 || strings.Contains(r.Messages[len(r.Messages)-1].Text(), "sum it up") {
			_ = yield(session.Text{Delta: "They talked."}) && yield(session.Done{Stop: session.StopEnd})
			return
		}
		if a.IntN(3) == 0 && !yield(session.Reasoning{Delta: a.words(20)}) {
			return
		}
		for range a.IntN(4) {
			if !yield(session.Text{Delta: a.words(30)}) {
				return
			}
		}
		if a.IntN(20) == 0 {
			yield(session.Done{Err: &session.ProviderError{Kind: session.BadResponse, Message: "it broke off"}})
			return
		}
		n := 0
		if a.over--; a.over > 0 {
			n = 1 + a.IntN(3)
		}
		for range n {
			a.calls++
			c := tool.RawCall{ID: tool.CallID(fmt.Sprintf("call_%d", a.calls)), Name: []string{"look", "change"}[a.IntN(2)], Arguments: fmt.Sprintf(`{"text":%q}`, a.words(3))}
			if !yield(session.Call{RawCall: c}) {
				return
			}
		}
		if n > 0 {
			yield(session.Done{Stop: session.StopCalls, Usage: session.Usage{Input: 10, Output: 5}})
			return
		}
		_ = yield(session.Text{Delta: "end"}) && yield(session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 10, Output: 5}})
	}
}

// words is a text that stands once in a log.
func (a *author) words(n int) string {
	var b strings.Builder
	for range 1 + a.IntN(n) {
		fmt.Fprintf(&b, "%x ", a.Uint64())
	}
	return b.String()
}

// perishable is a store whose process ends after so many entries.
type perishable struct {
	session.Store
	left int
}

var errEnded = errors.New("the process ended")

func (p *perishable) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	if p.left -= len(entries); p.left < 0 {
		return errEnded
	}
	return p.Store.Append(ctx, id, entries...)
}

type textArgs struct {
	Text string `json:"text,omitempty"`
}
type textMeta struct{}

func catalogue(t testing.TB) *tool.Set {
	t.Helper()
	var registry tool.Registry
	for name, p := range map[string]tool.Permission{"look": tool.Read, "change": tool.Write} {
		if err := registry.Register(tool.Define(name, tool.Config[textArgs, textMeta]{
			Description: name, Permissions: tool.Requires(p), Redact: tool.Expose("text"),
			Needs: func(in textArgs) []tool.Need { return []tool.Need{{Permission: p, Target: in.Text}} },
			Run: func(_ context.Context, _ tool.Context[textMeta], in textArgs) (tool.Result[textMeta], error) {
				return tool.Result[textMeta]{Output: "did " + in.Text}, nil
			},
		})); err != nil {
			t.Fatal(err)
		}
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// config is a session over a store.
func config(t testing.TB, s session.Store, id session.ID, p session.Provider) session.Config {
	var mu sync.Mutex
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return session.Config{
		Identity: session.Identity{ID: id, Start: session.Start{Version: "test", System: "you are a test " + strings.Repeat("of length ", 60), Cwd: "/here", Model: "author/m"}},
		Requests: session.Requests{Provider: p, Model: "m", Sum: "sum it up", Window: func(string, string) int { return 100_000 }},
		Calls:    session.Calls{Tools: catalogue(t), Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })},
		Storage:  session.Storage{Store: s},
		Host: session.Host{Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(700 * time.Millisecond)
			return at
		}, Wait: func(context.Context, time.Duration) error { return nil }},
	}
}

// written is the rows of a conversation in which all kinds of things happen, over several
// processes, and the id of it.
func written(t testing.TB, s *sessiondb.Store, id session.ID, r *rand.Rand) []sessiondb.Raw {
	t.Helper()
	a, memory := &author{Rand: r}, sessiondb.NewMemory()
	for process := range 1 + r.IntN(3) {
		p := &perishable{memory, 5 + r.IntN(40)}
		c := config(t, p, id, a)
		var talk *session.Session
		if entries, err := memory.Load(t.Context(), id); process == 0 || errors.Is(err, session.ErrNotFound) {
			talk = session.New(c)
		} else if talk, err = session.Resume(t.Context(), c); err != nil && p.left >= 0 {
			t.Fatalf("%v after %d entries", err, len(entries))
		} else if err != nil {
			continue
		}
		for p.left >= 0 {
			chat(t, talk, a)
		}
	}
	entries, err := memory.Load(t.Context(), id)
	if err == nil {
		err = s.Append(t.Context(), id, entries...)
	}
	log, rerr := s.Raw(t.Context(), id)
	if err := errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	return log.Rows
}

// chat is one thing that a user does.
func chat(t testing.TB, s *session.Session, a *author) {
	a.over = 1 + a.IntN(4)
	switch a.IntN(10) {
	case 0:
		_, _ = s.Rewind(t.Context())
	case 1:
		s.Compact(t.Context(), "")
	case 2:
		s.Run(t.Context(), tool.RawCall{Name: "look", Arguments: fmt.Sprintf(`{"text":%q}`, a.words(3))}, func(o tool.Outcome) string { return "I ran " + o.Output })
	case 3:
		s.Note(session.Note{Kind: session.ModeNote, From: "mode", Text: a.words(3)})
	default:
		in := session.Input{Text: a.words(10)}
		if a.IntN(5) == 0 {
			in.Attachments = []tool.Attachment{{Name: "a.png", MediaType: "image/png", Data: []byte{1, 2, byte(a.IntN(256))}}}
		}
		s.Prompt(t.Context(), in)
	}
}

// text is what an entry holds, for comparing.
func text(e session.Entry) string {
	return string(e.Type) + " " + string(json.RawMessage(e.Data))
}
