package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/session"
	"adze/tool"
)

// model is a written provider: it answers the n-th request with the n-th step.
type model struct {
	steps    []func(ctx context.Context, yield func(session.Chunk) bool)
	mu       sync.Mutex
	requests []session.Request
}

func (m *model) Name() string { return "fake" }

func (m *model) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	m.mu.Lock()
	r.Messages = slices.Clone(r.Messages)
	m.requests = append(m.requests, r)
	n := len(m.requests)
	m.mu.Unlock()
	return func(yield func(session.Chunk) bool) {
		if n > len(m.steps) {
			yield(session.Done{Err: fmt.Errorf("no step %d is written", n)})
			return
		}
		m.steps[n-1](ctx, yield)
	}
}

// says answers with fixed chunks and a good end.
func says(chunks ...session.Chunk) func(context.Context, func(session.Chunk) bool) {
	return func(_ context.Context, yield func(session.Chunk) bool) {
		for _, c := range chunks {
			if !yield(c) {
				return
			}
		}
		yield(session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 10, Output: 1}})
	}
}

// only answers with exactly these chunks: the end is among them or missing.
func only(chunks ...session.Chunk) func(context.Context, func(session.Chunk) bool) {
	return func(_ context.Context, yield func(session.Chunk) bool) {
		for _, c := range chunks {
			if !yield(c) {
				return
			}
		}
	}
}

func text(s string) session.Chunk { return session.Text{Delta: s} }

func call(id, name, args string) session.Chunk {
	return session.Call{RawCall: tool.RawCall{ID: tool.CallID(id), Name: name, Arguments: args}}
}

// shelf is a written store. It can fail, and it remembers how much was stored at any time.
type shelf struct {
	mu      sync.Mutex
	entries []session.Entry
	batches []string // the types of each append
	failAt  int      // fail when this many entries are there; if 0, never
}

var errDisk = errors.New("disk full")

func (s *shelf) Lock(context.Context, session.ID) error { return nil }
func (s *shelf) Close() error                           { return nil }

func (s *shelf) Append(_ context.Context, _ session.ID, entries ...session.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failAt > 0 && len(s.entries)+len(entries) > s.failAt {
		return errDisk
	}
	s.entries = append(s.entries, entries...)
	var types []string
	for _, e := range entries {
		types = append(types, string(e.Type))
	}
	s.batches = append(s.batches, strings.Join(types, " "))
	return nil
}

// commits are the types of what was stored, appends apart.
func (s *shelf) commits() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.batches, "|")
}

// fail lets no more than so many entries be stored; if 0, any number.
func (s *shelf) fail(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failAt = at
}

func (s *shelf) Load(context.Context, session.ID) ([]session.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) == 0 {
		return nil, session.ErrNotFound
	}
	return slices.Clone(s.entries), nil
}

func (s *shelf) List(context.Context) ([]session.Head, error) { return nil, nil }

func (s *shelf) types() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.entries {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

// has reports whether an entry of a type holds a text.
func (s *shelf) has(kind session.EntryType, part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.entries, func(e session.Entry) bool {
		return e.Type == kind && strings.Contains(string(e.Data), part)
	})
}

// rig is a session with its fakes.
type rig struct {
	model  *model
	shelf  *shelf
	set    *tool.Set
	config session.Config

	mu     sync.Mutex
	events []session.Event
	onSee  func(session.Event)
}

type noteArgs struct {
	Text string `json:"text,omitempty"`
}
type noteMeta struct {
	Text string `json:"text"`
}

// noting is a tool that does what the test says; look reads only, change has side effects.
func noting(name string, p tool.Permission, run func(context.Context, string) (string, error)) tool.Tool {
	return tool.Define(name, tool.Config[noteArgs, noteMeta]{
		Description: name, Permissions: tool.Requires(p), Redact: tool.Expose(),
		Needs: func(in noteArgs) []tool.Need { return []tool.Need{{Permission: p, Target: in.Text}} },
		Run: func(ctx context.Context, _ tool.Context[noteMeta], in noteArgs) (tool.Result[noteMeta], error) {
			out, err := run(ctx, in.Text)
			return tool.Result[noteMeta]{Output: out, Stop: name == "finish", Metadata: noteMeta(in), Changed: changedBy(p, in.Text)}, err
		},
	})
}

func changedBy(p tool.Permission, path string) []string {
	if p == tool.Write {
		return []string{path}
	}
	return nil
}

func echo(_ context.Context, s string) (string, error) { return "did " + s, nil }

func newRig(t *testing.T, steps ...func(context.Context, func(session.Chunk) bool)) *rig {
	t.Helper()
	return rigWith(t, []tool.Tool{noting("look", tool.Read, echo), noting("change", tool.Write, echo), noting("finish", tool.Read, echo)}, steps...)
}

func rigWith(t *testing.T, tools []tool.Tool, steps ...func(context.Context, func(session.Chunk) bool)) *rig {
	t.Helper()
	r := &rig{model: &model{steps: steps}, shelf: &shelf{}}
	var registry tool.Registry
	for _, each := range tools {
		if err := registry.Register(each); err != nil {
			t.Fatal(err)
		}
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	r.set = set
	r.config = session.Config{
		Identity: session.Identity{ID: "s1", Start: session.Start{Version: "test", System: "you are a test"}},
		Requests: session.Requests{Provider: r.model, Model: "m"},
		Calls:    session.Calls{Tools: set, Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })},
		Storage:  session.Storage{Store: r.shelf},
		Host:     session.Host{Observe: r.see, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }},
	}
	return r
}

func (r *rig) see(e session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if r.onSee != nil {
		r.onSee(e)
	}
}

func (r *rig) prompt(t *testing.T, text string) session.Result {
	t.Helper()
	return session.New(r.config).Prompt(t.Context(), session.Input{Text: text})
}

// outcomes lists the stored outcomes as "call status output".
func (r *rig) outcomes(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range r.shelf.entries {
		if e.Type != session.OutcomeEntry {
			continue
		}
		var o tool.Outcome
		if err := json.Unmarshal(e.Data, &o); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s", o.Call, o.Status, o.Output))
	}
	return out
}

// kinds names the events in order, deltas and starts left out.
func (r *rig) kinds() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		switch e := e.(type) {
		case session.MessageDone:
			out = append(out, string(e.Message.Role))
		case session.ToolEnd:
			out = append(out, "end:"+string(e.Outcome.Call))
		case session.TurnEnd:
			out = append(out, "result:"+string(e.Result.Cause))
		case session.Retry:
			out = append(out, "retry")
		case session.Notice:
			out = append(out, "notice")
		}
	}
	return strings.Join(out, " ")
}

func wantCause(t *testing.T, r session.Result, want session.Cause) {
	t.Helper()
	if r.Cause != want {
		t.Fatalf("cause = %s (%s), want %s", r.Cause, r.Message, want)
	}
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
