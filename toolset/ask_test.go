package toolset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// casePerson is the user of a case: .person holds what they answer to every question, "(gone)"
// that nobody can be asked any more. A case without that file has nobody.
func casePerson(dir string) Inquire {
	raw, err := os.ReadFile(filepath.Join(dir, ".person"))
	if err != nil {
		return nil
	}
	return func(_ context.Context, q Inquiry) (string, error) {
		answer := strings.TrimSpace(string(raw))
		if answer == "(gone)" {
			return "", errors.New("the interface is closed")
		}
		return strings.ReplaceAll(answer, "$QUESTION", q.Question), nil
	}
}

func TestAnAbortEndsAQuestion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := askBench(t, func(ctx context.Context, _ Inquiry) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	h := b.runner.Hydrate(ctx, b.set, []tool.RawCall{{ID: "c", Name: "ask", Arguments: `{"question":"which?"}`}})
	if o := b.runner.Exec(ctx, h[0]); o.Status != tool.Aborted {
		t.Errorf("%s %q", o.Status, o.Output)
	}
}

// TestAQuestionNamesItsSubagent: whose question it is, the user must know.
func TestAQuestionNamesItsSubagent(t *testing.T) {
	var asked Inquiry
	b := askBench(t, func(_ context.Context, q Inquiry) (string, error) { asked = q; return "a", nil })
	b.runner.Agent = "explore: look"
	if o := b.play(t, "ask", `{"question":"which?","choices":["a"]}`).outcome; o.Output != "The person chose: a" || asked.Agent != "explore: look" {
		t.Errorf("%q of %+v", o.Output, asked)
	}
}

// TestAskIsOfferedOnlyToAPerson: a run without one accepts the call and shows the tool nowhere.
func TestAskIsOfferedOnlyToAPerson(t *testing.T) {
	with := askBench(t, func(context.Context, Inquiry) (string, error) { return "", nil })
	without := askBench(t, nil)
	for name, c := range map[string]struct {
		b       *bench
		offered bool
	}{"with": {with, true}, "without": {without, false}} {
		offered := false
		for _, d := range c.b.set.Definitions() {
			offered = offered || d.Name == "ask"
		}
		only := c.b.set.Only(func(tool.Definition) bool { return true })
		if _, known := only.Get("ask"); offered != c.offered || !known {
			t.Errorf("%s a person: offered %v, known %v", name, offered, known)
		}
	}
}

func askBench(t *testing.T, inquire Inquire) *bench {
	t.Helper()
	b := newBench(t, t.TempDir())
	deps := caseDeps(t, b.dir)
	deps.Inquire = inquire
	registry, err := New(deps)
	if err != nil {
		t.Fatal(err)
	}
	if b.set, err = registry.Tools(t.Context(), tool.Init{Workspace: b.dir, Directory: b.dir, Cwd: b.dir}); err != nil {
		t.Fatal(err)
	}
	return b
}
