package toolset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// casePlans is the desk of a case: .person holds what the user says to a plan, "accept" or
// remarks. A case without that file has none.
type casePlans string

func plansOf(dir string) Plans {
	raw, err := os.ReadFile(filepath.Join(dir, ".person"))
	if err != nil {
		return nil
	}
	return casePlans(strings.TrimSpace(string(raw)))
}

func (c casePlans) Propose(_ context.Context, text string) (Proposed, error) {
	p := Proposed{State: "returned", Path: "/state/plan.md", SHA256: "ab12", Text: text, Output: "The person sends the plan back: " + string(c)}
	if c == "accept" {
		p.State, p.Mode, p.Output = "accepted", "edits", "The person accepted the plan."
	}
	return p, nil
}

// deskFunc is a desk that only answers.
type deskFunc func(context.Context) (Proposed, error)

func (f deskFunc) Propose(ctx context.Context, _ string) (Proposed, error) { return f(ctx) }

// An abort while the user thinks ends the call, and their time is not the call's.
func TestAnAbortEndsAPlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	deps := caseDeps(t, t.TempDir())
	deps.Plans = deskFunc(func(ctx context.Context) (Proposed, error) {
		cancel()
		<-ctx.Done()
		return Proposed{}, ctx.Err()
	})
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	r := &tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	h := r.Hydrate(ctx, set, []tool.RawCall{{ID: "c", Name: "plan", Arguments: `{"plan":"this"}`}})
	if o := r.Exec(ctx, h[0]); o.Status != tool.Aborted {
		t.Errorf("%s %q", o.Status, o.Output)
	}
}
