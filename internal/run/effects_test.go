package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/testkit/posix"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// effect is one call of a built-in tool that changes something, and how to see that it did.
type effect struct {
	before string // a call in the message before, if one is needed
	call   string // name and arguments
	done   func(*world) bool
}

// effects has a case for every tool with side effects; a new one must be added here.
func effects() map[string]effect {
	return map[string]effect{
		"write": {call: `write {"path":"new","content":"x"}`, done: (*world).made},
		"edit":  {call: `edit {"path":"new","old_string":"","new_string":"x"}`, done: (*world).made},
		"bash":  {call: `bash {"command":"touch new"}`, done: (*world).made},
		"bash_kill": {
			before: `bash {"command":"echo $$ > new.part && mv new.part pid && sleep 600","background":true}`,
			call:   `bash_kill {"job":"job1"}`,
			done:   (*world).killed,
		},
		"task": {call: `task {"description":"d","prompt":"p"}`, done: func(w *world) bool { return w.tasks > 0 }},
	}
}

// world is a workspace with a session whose store looks on, and fails when it is told to.
type world struct {
	*sessiondb.Memory
	dir     string
	shell   *toolset.Shell
	set     *tool.Set
	tasks   int
	look    effect
	failAt  int // the number of the append that fails, and all after it; if 0, none
	appends int
	intents map[string]bool // tools whose intent is stored
	early   string          // what was wrong at an intent

	mu sync.Mutex
}

func newWorld(t *testing.T, e effect, failAt int) *world {
	t.Helper()
	w := &world{Memory: sessiondb.NewMemory(), dir: t.TempDir(), look: e, failAt: failAt, intents: map[string]bool{}}
	root, err := workspace.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w.shell = toolset.NewShell(proc.Supervisor{}, []string{"PATH=" + os.Getenv("PATH")})
	t.Cleanup(w.shell.Close)
	registry, err := toolset.New(toolset.Deps{Root: root, Shell: w.shell, Tasks: w})
	if err != nil {
		t.Fatal(err)
	}
	if w.set, err = registry.Tools(t.Context(), tool.Init{Workspace: w.dir, Directory: w.dir, Cwd: w.dir}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) made() bool {
	_, err := os.Stat(filepath.Join(w.dir, "new"))
	return err == nil
}

// killed reports whether the job told its process and that is gone.
func (w *world) killed() bool {
	raw, err := os.ReadFile(filepath.Join(w.dir, "pid"))
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	return err == nil && !posix.Alive(pid)
}

// Run stands for a subagent.
func (w *world) Run(context.Context, toolset.TaskRequest, func(toolset.TaskProgress)) (toolset.TaskResult, error) {
	w.tasks++
	return toolset.TaskResult{Text: "done"}, nil
}

var errFull = errors.New("disk full")

// Append looks at the world before it takes an intent: the effect must not be there yet.
func (w *world) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.appends++
	for _, e := range entries {
		var r tool.Record
		if e.Type != session.IntentEntry || json.Unmarshal(e.Data, &r) != nil {
			continue
		}
		if !strings.HasPrefix(w.look.call, r.Tool+" ") {
			continue
		}
		if w.look.done(w) {
			w.early = "the effect was there before its intent"
		}
		if len(r.Decisions) == 0 || !r.Decisions[len(r.Decisions)-1].Allow {
			w.early = "the intent holds no decision that allows it"
		}
		if w.failAt == 0 || w.appends < w.failAt {
			w.intents[r.Tool] = true
		}
	}
	if w.failAt > 0 && w.appends >= w.failAt {
		return errFull
	}
	return w.Memory.Append(ctx, id, entries...)
}

// written answers the n-th request with the n-th call, then with text.
type written struct{ calls []string }

func (written) Name() string { return "written" }

func (m written) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	n := len(r.Messages) / 2
	return func(yield func(session.Chunk) bool) {
		if n >= len(m.calls) {
			_ = yield(session.Text{Delta: "end"}) && yield(session.Done{Stop: session.StopEnd})
			return
		}
		name, args, _ := strings.Cut(m.calls[n], " ")
		_ = yield(session.Call{RawCall: tool.RawCall{ID: tool.CallID(fmt.Sprint("c", n)), Name: name, Arguments: args}}) &&
			yield(session.Done{Stop: session.StopCalls})
	}
}

// prompt runs the case and reports whether its effect happened.
func (w *world) prompt(t *testing.T, allow bool) bool {
	t.Helper()
	model := written{[]string{w.look.call}}
	if w.look.before != "" {
		model.calls = []string{w.look.before, w.look.call}
	}
	s := session.New(session.Config{
		Identity: session.Identity{ID: "one"},
		Requests: session.Requests{Provider: model, Model: "m"},
		Calls: session.Calls{Tools: w.set, Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			if w.look.before != "" && strings.HasPrefix(w.look.call, q.Tool.Name+" ") {
				waitFor(t, "the job", func() bool { _, err := os.Stat(filepath.Join(w.dir, "pid")); return err == nil })
			}
			return tool.Decision{Allow: allow || strings.HasPrefix(w.look.before, q.Tool.Name+" "), Layer: "test"}, nil
		})},
		Storage: session.Storage{Store: w},
	})
	s.Prompt(t.Context(), session.Input{Text: "go"})
	return w.look.done(w)
}

// No built-in tool has an effect without its decision in the store before it, wherever the store
// fails.
func TestNoEffectWithoutADecisionStoredBefore(t *testing.T) {
	cases := effects()
	for _, d := range newWorld(t, effect{}, 0).set.Definitions() {
		if _, known := cases[d.Name]; !known && d.Permissions.SideEffects() {
			t.Errorf("%s has side effects and no case here", d.Name)
		}
	}
	for name, e := range cases {
		t.Run(name, func(t *testing.T) {
			whole := newWorld(t, e, 0)
			if !whole.prompt(t, true) || !whole.intents[name] || whole.early != "" {
				t.Fatalf("with a sound store: done %v, intents %v; %s", e.done(whole), whole.intents, whole.early)
			}
			if refused := newWorld(t, e, 0); refused.prompt(t, false) || refused.intents[name] {
				t.Error("a denied call had an effect, or an intent")
			}
			stopped := 0
			for n := 1; n <= whole.appends; n++ {
				w := newWorld(t, e, n)
				done := w.prompt(t, true)
				if done && !w.intents[name] || w.early != "" {
					t.Errorf("append %d fails: an effect without a stored intent; %s", n, w.early)
				}
				if !done {
					stopped++
				}
			}
			if stopped < 2 { // the prompt, and the message with the intent
				t.Errorf("a failing store stopped the effect at %d of %d appends", stopped, whole.appends)
			}
		})
	}
}
