package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adze/internal/llm/script"
	projectagents "adze/internal/project/agents"
	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// rig is a conversation that can start subagents, with a written model, a store in memory and
// written tools.
type rig struct {
	t       *testing.T
	store   *sessiondb.Memory
	agents  *projectagents.Agents
	config  projectagents.Config
	parent  *session.Session
	main    session.Config
	started chan tool.CallID // of the tool that waits

	rests chan struct{} // closed when the main conversation waits for a report
	once  sync.Once

	mu     sync.Mutex
	events []session.Event
	denied string // a tool's name
	run    func(ctx context.Context, agent, name, text string) (string, error)
}

// leavesNothing checks that nothing runs which did not run before. What has ended may still be on
// its way out.
func leavesNothing(t *testing.T, before goleak.Option) {
	err := goleak.Find(before)
	for start := time.Now(); err != nil && time.Since(start) < time.Minute; err = goleak.Find(before) {
		runtime.Gosched()
	}
	if err != nil {
		t.Error(err)
	}
}

type args struct {
	Text string `json:"text,omitempty"`
}

// newRig makes one whose models say what the script says. Its tools are those of a subagent: read
// and bash do what run says.
func newRig(t *testing.T, atOnce int, steps string) *rig {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { leavesNothing(t, before) })
	r := &rig{t: t, store: sessiondb.NewMemory(), started: make(chan tool.CallID, 16), rests: make(chan struct{})}
	r.run = func(_ context.Context, _, name, text string) (string, error) { return name + " " + text, nil }
	gate := tool.GateFunc(r.decide)
	common := session.Config{
		Identity: session.Identity{Start: session.Start{Version: "test", System: "you are a subagent"}},
		Requests: session.Requests{Provider: script.New(script.Options{Script: []byte("# a test\n" + steps), Name: "test"}), Model: "m", Price: func(_, _ string, u session.Usage) (float64, bool) { return float64(u.Total()) / 1000, true }},
		Calls:    session.Calls{Gate: gate},
		Storage:  session.Storage{Store: r.store},
	}
	r.config = projectagents.Config{Session: common, Observe: r.see, Tools: r.tools,
		Budget: func() *session.Budget { return r.parent.Budget() }}
	r.agents = projectagents.New(atOnce, func() (projectagents.Config, error) { return r.config, nil })
	registry, err := toolset.New(toolset.Deps{Tasks: r.agents})
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{Workspace: "/w", Directory: "/w", Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	r.main = common
	r.main.ID, r.main.Observe, r.main.Start.System = "parent", r.see, "you are the main one"
	r.main.Tools = set.Only(func(d tool.Definition) bool { return d.Name == "task" })
	return r
}

func (r *rig) decide(_ context.Context, q tool.Question) (tool.Decision, error) {
	if q.Tool.Name == r.denied {
		return tool.Decision{Reason: "not for " + q.Agent}, nil
	}
	return tool.Decision{Allow: true, Layer: "test"}, nil
}

// written is a tool of a subagent.
func (r *rig) written(name string, p tool.Permission) tool.Tool {
	return tool.Define(name, tool.Config[args, args]{
		Description: name, Permissions: tool.Requires(p), Redact: tool.Expose(),
		Run: func(ctx context.Context, c tool.Context[args], in args) (tool.Result[args], error) {
			c.Metadata("doing "+in.Text, in)
			out, err := r.run(ctx, c.Agent, name, in.Text)
			result := tool.Result[args]{Title: in.Text, Output: out}
			if p == tool.Write {
				result.Changed = []string{in.Text}
			}
			return result, err
		},
	})
}

func (r *rig) tools(ctx context.Context, _ string) (*tool.Set, func(), error) {
	registry, err := toolset.New(toolset.Deps{})
	if err != nil {
		return nil, nil, err
	}
	for name, p := range map[string]tool.Permission{"read": tool.Read, "bash": tool.Execute, "write": tool.Write} {
		registry.Unregister(name)
		if err := registry.Register(r.written(name, p)); err != nil {
			return nil, nil, err
		}
	}
	set, err := registry.Tools(ctx, tool.Init{Workspace: "/w", Directory: "/w", Cwd: "/w"})
	if err != nil {
		return nil, nil, err
	}
	set = set.Only(func(d tool.Definition) bool {
		return slices.Contains([]string{"read", "bash", "write", "task"}, d.Name)
	})
	return set, func() {}, nil
}

// waits makes the tool read wait for its end; each says when it has begun.
func (r *rig) waits() {
	r.run = func(ctx context.Context, _, name, text string) (string, error) {
		if name != "read" {
			return "", nil
		}
		r.started <- tool.CallID(text)
		<-ctx.Done()
		return "", ctx.Err()
	}
}

func (r *rig) see(e session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *rig) prompt(ctx context.Context) session.Result {
	r.parent = session.New(r.main)
	return r.parent.Prompt(ctx, session.Input{Text: "go"})
}

// outcomes are those of a log, each as "tool status code: output".
func (r *rig) outcomes(id session.ID) (out []string) {
	for _, e := range r.log(id) {
		var o tool.Outcome
		if e.Type == session.OutcomeEntry && json.Unmarshal(e.Data, &o) == nil {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", o.Tool, o.Status, o.Code, o.Output)))
		}
	}
	return out
}

func (r *rig) log(id session.ID) []session.Entry {
	entries, err := r.store.Load(context.Background(), id)
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		r.t.Fatal(err)
	}
	return entries
}

// subagents are the logs that the parent's log links to, in order.
func (r *rig) subagents() []session.Subagent { return r.linked("parent") }

// linked are the logs that a log links to, in order.
func (r *rig) linked(id session.ID) (out []session.Subagent) {
	for _, e := range r.log(id) {
		var s session.Subagent
		if e.Type == session.SubagentEntry && json.Unmarshal(e.Data, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// start is the first entry of a log.
func (r *rig) start(id session.ID) (s session.Start) {
	for _, e := range r.log(id) {
		if e.Type == session.StartEntry {
			if err := json.Unmarshal(e.Data, &s); err != nil {
				r.t.Fatal(err)
			}
			return s
		}
	}
	r.t.Fatalf("%s has no start", id)
	return s
}

// ends are the outcomes that observers saw, with their marks.
func (r *rig) ends() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e, ok := e.(session.ToolEnd); ok {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Outcome.Call, e.Parent, e.Agent)))
		}
	}
	slices.Sort(out)
	return out
}

func (r *rig) wants(what string, got, want any) {
	r.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		r.t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func (r *rig) contains(what string, got []string, parts ...string) {
	r.t.Helper()
	if len(got) != len(parts) {
		r.t.Fatalf("%s: got %q, want %d", what, got, len(parts))
	}
	for i, part := range parts {
		if !strings.Contains(got[i], part) {
			r.t.Errorf("%s %d: got %q, want %q in it", what, i, got[i], part)
		}
	}
}

func decoded[T any](r *rig, e session.Entry) (x T) {
	r.t.Helper()
	if err := json.Unmarshal(e.Data, &x); err != nil {
		r.t.Fatal(err)
	}
	return x
}
