package policy

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/tool"
)

// rank orders what a gate may answer: no, ask a user, yes.
func rank(d tool.Decision) int {
	switch {
	case d.Allow && !d.Asked:
		return 2
	case d.Asked:
		return 1
	}
	return 0
}

// randomQuestion is a call of any tool that needs anything.
func randomQuestion(r *rand.Rand) tool.Question {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	d := tool.Definition{Name: "x", Safety: tool.Safety{RequiresApproval: r.IntN(4) == 0}}
	if r.IntN(3) == 0 {
		d.AllowNoSchema = true
		d.NoSchemaMode = tool.NoSchemaMode(pick("read-only", "human-approval", "full", ""))
	}
	d.Permissions = tool.Requires(tool.Permission(pick("read", "write", "execute", "network")))
	q := tool.Question{Tool: d, Origin: tool.Native, Validated: !d.AllowNoSchema}
	for range r.IntN(4) {
		q.Needs = append(q.Needs, []tool.Need{
			{Permission: tool.Execute, Target: pick("ls", "id", "rm -rf a", "go test ./...", "ls && rm b", "$(x)")},
			{Permission: tool.Read, Target: pick("a", "/etc/passwd", ".git/config", "broken")},
			{Permission: tool.Write, Target: pick("a", "b", "/etc/passwd", ".git/config")},
			{Permission: tool.Network, Target: pick("https://a.example/", "http://127.0.0.1/", "nonsense")},
		}[r.IntN(4)])
	}
	return q
}

// TestMendedCallsHaveNoMoreRights: whatever the rules, the mode, the tool and its needs, a call
// that was mended, found in text, or named by an alias is answered no more freely than the native
// one.
func TestMendedCallsHaveNoMoreRights(t *testing.T) {
	rules := []string{"allow execute(ls)", "allow execute(go test **)", "deny execute(rm **)", "allow write(work:a)", "deny write(b)",
		"allow read(abs:/etc/passwd)", "ask read(a)", "allow network(a.example)", "allow read", "allow write", "deny network"}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[int]int{}
	for range 4000 {
		var some []string
		for _, rule := range rules {
			if r.IntN(3) == 0 {
				some = append(some, rule)
			}
		}
		mode := Modes()[r.IntN(len(Modes()))]
		p := newPolicy(t, Mode(mode), nil, some...)
		native := randomQuestion(r)
		answer := rank(decide(t, p, native))
		seen[answer]++
		for _, change := range []func(*tool.Question){
			func(q *tool.Question) { q.Repaired, q.Origin = true, tool.Repaired },
			func(q *tool.Question) { q.Origin = tool.FromText },
			func(q *tool.Question) { q.Repaired, q.Origin = true, tool.FromText },
			func(q *tool.Question) { q.Origin = tool.Alias },
			func(q *tool.Question) { q.Validated = false },
		} {
			q := native
			change(&q)
			if got := rank(decide(t, p, q)); got > answer {
				t.Fatalf("mode %s, rules %v: %+v is answered %d, the native one %d", mode, some, q, got, answer)
			}
		}
	}
	if seen[0] < 100 || seen[1] < 100 || seen[2] < 100 {
		t.Errorf("the questions are one-sided: %v", seen)
	}
}

// TestNoSchemaModesThroughThePipeline runs tools without a schema under this gate: what each mode
// lets happen, and that every record says that nothing was validated.
func TestNoSchemaModesThroughThePipeline(t *testing.T) {
	for _, c := range []struct {
		noSchema tool.NoSchemaMode
		mode     Mode
		needs    tool.Permission
		answer   Choice // of the user; if "", nobody is there
		want     tool.Status
	}{
		{tool.NoSchemaReadOnly, AskFirst, tool.Read, "", tool.Completed},
		{tool.NoSchemaReadOnly, Yolo, tool.Write, Once, tool.Denied},
		{tool.NoSchemaReadOnly, Yolo, tool.Execute, Once, tool.Denied},
		{tool.NoSchemaReadOnly, Yolo, tool.Network, Once, tool.Denied},
		{tool.NoSchemaApproval, Yolo, tool.Read, "", tool.Denied},
		{tool.NoSchemaApproval, Yolo, tool.Read, No, tool.Denied},
		{tool.NoSchemaApproval, Yolo, tool.Write, Once, tool.Completed},
		{tool.NoSchemaFull, Yolo, tool.Write, "", tool.Completed},
		{tool.NoSchemaFull, AskFirst, tool.Write, "", tool.Denied},
		{tool.NoSchemaFull, AskFirst, tool.Write, Once, tool.Completed},
	} {
		name := string(c.noSchema) + " " + string(c.mode) + " " + string(c.needs) + " " + string(c.answer)
		asked := 0
		var asker Asker
		if c.answer != "" {
			asker = func(context.Context, tool.Question, Prompt) (Answer, error) {
				asked++
				return Answer{Choice: c.answer}, nil
			}
		}
		o, ran := runFree(t, c.noSchema, c.needs, newPolicy(t, c.mode, asker))
		if o.Status != c.want || ran != (c.want == tool.Completed) {
			t.Errorf("%s: %s, ran %t: %s", name, o.Status, ran, o.Output)
		}
		if o.Record.Validated {
			t.Errorf("%s: the record says that it was validated", name)
		}
		if strings.HasPrefix(name, "read-only") && asked > 0 {
			t.Errorf("%s: a person was asked about what may never run", name)
		}
	}
}

// runFree runs one call of a tool without a schema.
func runFree(t *testing.T, mode tool.NoSchemaMode, p tool.Permission, gate tool.Gate) (o tool.Outcome, ran bool) {
	t.Helper()
	target := map[tool.Permission]string{tool.Execute: "ls", tool.Network: "https://a.example/"}[p]
	if target == "" {
		target = "a"
	}
	var r tool.Registry
	if err := r.Register(tool.Define("free", tool.Config[map[string]any, struct{}]{
		AllowNoSchema: true, NoSchemaMode: mode, Redact: tool.Expose(), Permissions: tool.Requires(p),
		Needs: func(map[string]any) []tool.Need { return []tool.Need{{Permission: p, Target: target}} },
		Run: func(context.Context, tool.Context[struct{}], map[string]any) (res tool.Result[struct{}], err error) {
			ran = true
			return res, nil
		},
	})); err != nil {
		t.Fatal(err)
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	run := tool.Runner{Gate: gate}
	return run.Exec(t.Context(), run.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "free", Arguments: `{"any":1}`}})[0]), ran
}
