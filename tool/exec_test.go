package tool_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/tool"

	"github.com/google/go-cmp/cmp"
)

// journal remembers the order of what happened; it is safe for concurrent use.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// journaled is a runner and a tool that write down each step.
func journaled(j *journal, decide tool.GateFunc) (*tool.Runner, tool.Tool) {
	r := &tool.Runner{
		Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
			j.add("gate %v", q.Needs)
			return decide(ctx, q)
		}),
		Intent: func(_ context.Context, rec tool.Record) error {
			j.add("intent %s decisions=%d status=%q", rec.Args, len(rec.Decisions), rec.Status)
			return nil
		},
		Emit: func(e tool.Event) { j.add("event %s", e.Kind) },
	}
	one := say("x", writing, needing(func(in sayArgs) []tool.Need {
		j.add("needs")
		return []tool.Need{{Permission: tool.Write, Target: in.Text}}
	}), running(func(_ context.Context, c tool.Context[sayMeta], in sayArgs) (tool.Result[sayMeta], error) {
		j.add("run %s", in.Text)
		return tool.Result[sayMeta]{Output: "done", Title: "t", Metadata: sayMeta{Said: 2}, Changed: []string{"f"}, Stop: true}, nil
	}))
	return r, one
}

func TestExecOrder(t *testing.T) {
	var j journal
	r, one := journaled(&j, gate)
	o := execOne(t, r, one, `{"text":"a.txt","times":2}`)
	wantStatus(t, o, tool.Completed, "")
	want := []string{"needs", "gate [{write a.txt   false  false false }]", `intent {"times":2} decisions=1 status=""`, "event start", "run a.txt"}
	if diff := cmp.Diff(want, j.all()); diff != "" {
		t.Error(diff)
	}
	if o.Output != "done" || o.Title != "t" || string(o.Metadata) != `{"said":2}` || !o.Stop || o.Call != "c1" || o.Tool != "x" || o.Changed[0] != "f" {
		t.Errorf("%+v", o)
	}
	rec := o.Record
	if rec.Session != "" || rec.Message != "m1" || len(rec.Digest) != 64 || !rec.Validated || rec.Origin != tool.Native ||
		string(rec.Args) != `{"times":2}` || len(rec.Needs) != 1 || len(rec.Decisions) != 1 || rec.Decisions[0].Rule != "test" {
		t.Errorf("record %+v", rec)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte("done"))); rec.OutputHash != want {
		t.Errorf("output hash %q, want %q", rec.OutputHash, want)
	}
}

func TestExecDeniedNeverRuns(t *testing.T) {
	var j journal
	r, one := journaled(&j, denying)
	o := execOne(t, r, one, `{"text":"a.txt"}`)
	wantStatus(t, o, tool.Denied, tool.CodeDenied)
	want := []string{"needs", "gate [{write a.txt   false  false false }]", "event ask", "event start"}
	if diff := cmp.Diff(want, j.all()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(o.Output, "denied: the test says no.") || o.Stop {
		t.Errorf("output %q, stop %t", o.Output, o.Stop)
	}
	if len(o.Record.Decisions) != 1 || o.Record.Decisions[0].Allow {
		t.Errorf("decisions %+v", o.Record.Decisions)
	}
}

// A call that is itself wrong leaves nothing to judge: it fails with its own code and is no denial.
func TestExecMistakeIsNoDenial(t *testing.T) {
	var ran []sayArgs
	r := &tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
		return tool.Decision{Code: tool.CodeInvalidArguments, Reason: "the path holds a NUL byte; give the plain name"}, nil
	})}
	o := execOne(t, r, say("x", running(recording(&ran))), `{"text":"a"}`)
	wantStatus(t, o, tool.Failed, tool.CodeInvalidArguments)
	if o.Output != "the path holds a NUL byte; give the plain name" || len(ran) > 0 || len(o.Record.Decisions) != 1 {
		t.Errorf("output %q, ran %d times, decisions %+v", o.Output, len(ran), o.Record.Decisions)
	}
}

func TestExecWithoutAGateDenies(t *testing.T) {
	var ran []sayArgs
	o := execOne(t, &tool.Runner{}, say("x", running(recording(&ran))), `{"text":"a"}`)
	wantStatus(t, o, tool.Denied, tool.CodeDenied)
	if len(ran) > 0 {
		t.Error("it ran")
	}
}

func TestExecGateThatFailsDenies(t *testing.T) {
	for name, broken := range map[string]tool.GateFunc{
		"error beside allow": func(context.Context, tool.Question) (tool.Decision, error) {
			return tool.Decision{Allow: true}, errors.New("rules are unreadable")
		},
		"panic": func(context.Context, tool.Question) (tool.Decision, error) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			var ran []sayArgs
			r := &tool.Runner{Gate: broken}
			o := execOne(t, r, say("x", running(recording(&ran))), `{"text":"a"}`)
			wantStatus(t, o, tool.Denied, tool.CodeDenied)
			if len(ran) > 0 || !strings.Contains(o.Output, "permission check failed") {
				t.Errorf("%d runs, output %q", len(ran), o.Output)
			}
		})
	}
}

func TestExecTellsTheGateTheWholeStory(t *testing.T) {
	var asked []tool.Question
	r := &tool.Runner{Session: "s", Agent: "explore", Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		asked = append(asked, q)
		return tool.Decision{Allow: true}, nil
	})}
	execOne(t, r, optional(), `{"msg":"x","times":"2"}`)
	noSchema := say("y", func(c *sayConfig) { c.AllowNoSchema, c.NoSchemaMode = true, tool.NoSchemaApproval })
	o := execOne(t, r, noSchema, `{"unknown":1}`)
	if len(asked) != 2 {
		t.Fatalf("%d questions", len(asked))
	}
	q := asked[0]
	if !q.Repaired || !q.Validated || q.Origin != tool.Repaired || q.Session != "s" || q.Agent != "explore" || q.Call != "c1" || q.Tool.Name != "opt" {
		t.Errorf("%+v", q)
	}
	if q = asked[1]; q.Repaired || q.Validated || q.Tool.NoSchemaMode != tool.NoSchemaApproval || o.Record.Validated {
		t.Errorf("a call without a schema: %+v", q)
	}
}

func TestExecPreview(t *testing.T) {
	var shown []tool.Block
	r := &tool.Runner{Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		shown = q.Preview(ctx)
		return tool.Decision{Allow: true}, nil
	})}
	preview := func(p func(context.Context, sayArgs) (sayMeta, error)) tool.Tool {
		return say("x", func(c *sayConfig) {
			c.Preview = p
			c.View = func(m sayMeta) []tool.Block { return tool.Text(fmt.Sprintf("would say %d", m.Said)) }
		})
	}
	execOne(t, r, preview(func(context.Context, sayArgs) (sayMeta, error) { return sayMeta{Said: 3}, nil }), `{"text":"a"}`)
	if len(shown) != 1 || shown[0].Text != "would say 3" {
		t.Errorf("preview %+v", shown)
	}
	for _, c := range []struct {
		preview func(context.Context, sayArgs) (sayMeta, error)
		want    []tool.Block
	}{
		{nil, nil},
		{func(context.Context, sayArgs) (sayMeta, error) { return sayMeta{}, errors.New("cannot read") },
			tool.Text("what it would do cannot be shown: cannot read")},
		{func(context.Context, sayArgs) (sayMeta, error) { panic("boom") },
			tool.Text("what it would do cannot be shown: the tool failed inside; try another way")},
	} {
		o := execOne(t, r, preview(c.preview), `{"text":"a"}`)
		wantStatus(t, o, tool.Completed, "")
		if !cmp.Equal(shown, c.want) {
			t.Errorf("preview %+v, want %+v", shown, c.want)
		}
	}
}

func TestExecIntentStopsTheEffect(t *testing.T) {
	for name, intent := range map[string]func(context.Context, tool.Record) error{
		"error": func(context.Context, tool.Record) error { return errors.New("disk full") },
		"panic": func(context.Context, tool.Record) error { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			var ran []sayArgs
			r := allowing()
			r.Intent = intent
			o := execOne(t, r, say("x", writing, running(recording(&ran))), `{"text":"a"}`)
			if o.Status != tool.Failed || len(ran) > 0 {
				t.Errorf("%s, %d runs", o.Status, len(ran))
			}
			if name == "error" && (o.Code != tool.CodeIO || !strings.Contains(o.Output, "disk full")) {
				t.Errorf("%s %q", o.Code, o.Output)
			}
			if o = execOne(t, r, say("x", running(recording(&ran))), `{"text":"a"}`); o.Status != tool.Completed {
				t.Errorf("a call that only reads asked for an intent: %s", o.Status)
			}
		})
	}
}

func TestExecRunsOnce(t *testing.T) {
	var ran []sayArgs
	var j journal
	r := allowing()
	r.Emit = func(e tool.Event) { j.add("%s", e.Kind) }
	set := setOf(t, say("x", running(recording(&ran))))
	h := hydrateOne(t, r, set, `{"text":"a"}`)
	copied := h
	wantStatus(t, r.Exec(t.Context(), h), tool.Completed, "")
	o := r.Exec(t.Context(), copied)
	wantStatus(t, o, tool.Failed, tool.CodeDuplicateCall)
	if len(ran) != 1 || len(j.all()) != 1 {
		t.Errorf("%d runs, events %v", len(ran), j.all())
	}
}

func TestExecRefusesWhatHydrateDidNotMake(t *testing.T) {
	var ran []sayArgs
	r := allowing()
	set := setOf(t, say("x", running(recording(&ran))))
	forged := hydrateOne(t, r, set, `{"text":null}`)
	forged.OK = true
	raw, err := json.Marshal(hydrateOne(t, r, set, `{"text":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	var stored tool.Hydration
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]tool.Hydration{"zero": {}, "forged zero": {OK: true, Tool: "x"}, "forged": forged, "stored": stored} {
		if o := r.Exec(t.Context(), h); o.Status != tool.Invalid || h.Concurrent() {
			t.Errorf("%s: %s %s", name, o.Status, o.Output)
		}
	}
	if len(ran) > 0 {
		t.Errorf("ran with %+v", ran)
	}
}

// explosive decodes by panicking.
type explosive struct{}

func (*explosive) UnmarshalJSON([]byte) error { panic("decode") }

// sullen cannot be encoded.
type sullen struct{ How string }

func (s sullen) MarshalJSON() ([]byte, error) {
	if s.How == "panic" {
		panic("encode")
	}
	return nil, errors.New("cannot encode")
}

func TestExecContainsPanics(t *testing.T) {
	cases := map[string]tool.Tool{
		"needs": say("x", needing(func(sayArgs) []tool.Need { panic("needs") })),
		"run": say("x", running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
			panic("run")
		})),
		"run with nil": say("x", running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
			var m *map[string]int
			(*m)["x"] = 1
			return tool.Result[sayMeta]{}, nil
		})),
		"metadata": tool.Define("x", tool.Config[sayArgs, sullen]{Redact: tool.Expose(),
			Run: func(context.Context, tool.Context[sullen], sayArgs) (tool.Result[sullen], error) {
				return tool.Result[sullen]{Metadata: sullen{"panic"}}, nil
			}}),
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			o := execOne(t, allowing(), one, `{"text":"a"}`)
			wantStatus(t, o, tool.Failed, tool.CodePanic)
			if o.Record.Panic == "" || !strings.Contains(o.Record.Panic, "goroutine") || strings.Contains(o.Output, "goroutine") {
				t.Errorf("panic %q, output %q", o.Record.Panic, o.Output)
			}
		})
	}
}

func TestExecContainsPanicsOfDecoding(t *testing.T) {
	type args struct {
		E explosive `json:"e"`
	}
	one := tool.Define("x", tool.Config[args, sayMeta]{Redact: tool.Expose(), Parameters: rawJSON(`{"type":"object"}`),
		Run: func(context.Context, tool.Context[sayMeta], args) (r tool.Result[sayMeta], err error) { return }})
	o := execOne(t, allowing(), one, `{"e":1}`)
	wantStatus(t, o, tool.Invalid, tool.CodePanic)
}

// quoting refuses every value and repeats it.
type quoting struct{}

func (*quoting) UnmarshalJSON(raw []byte) error { return fmt.Errorf("cannot take %s", raw) }

func TestExecRecordRepeatsNoArguments(t *testing.T) {
	type args struct {
		Q quoting `json:"q"`
	}
	one := tool.Define("x", tool.Config[args, sayMeta]{Redact: tool.Expose(), Parameters: rawJSON(`{"type":"object"}`),
		Run: func(context.Context, tool.Context[sayMeta], args) (r tool.Result[sayMeta], err error) { return }})
	r := allowing()
	h := hydrateOne(t, r, setOf(t, one), `{"q":"SECRET"}`)
	if len(h.Errors) != 1 || !strings.Contains(h.Errors[0].Detail, "SECRET") {
		t.Errorf("the detail is not kept for who debugs the tool: %+v", h.Errors)
	}
	o := r.Exec(t.Context(), h)
	wantStatus(t, o, tool.Invalid, tool.CodeInvalidArguments)
	if raw, _ := json.Marshal(o); strings.Contains(string(raw), "SECRET") || len(o.Record.Faults) != 1 {
		t.Errorf("outcome %s", raw)
	}
}

func TestExecViewThatPanicsFallsBack(t *testing.T) {
	set := setOf(t, say("x", func(c *sayConfig) { c.View = func(sayMeta) []tool.Block { panic("view") } }))
	blocks := set.Blocks("x", rawJSON(`{"said":7,"b":"c"}`))
	want := []tool.Block{{Kind: tool.ListBlock, Items: []tool.Item{{Text: "b", Note: "c"}, {Text: "said", Note: "7"}}}}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, set.Blocks("stranger", rawJSON(`{"said":7,"b":"c"}`))); diff != "" {
		t.Error(diff)
	}
	for _, raw := range []string{"", "null", "[]", "{", `"x"`} {
		if got := set.Blocks("x", rawJSON(raw)); got != nil {
			t.Errorf("%q drew %+v", raw, got)
		}
	}
}

func TestExecMetadataThatCannotBeEncoded(t *testing.T) {
	one := tool.Define("x", tool.Config[sayArgs, sullen]{Redact: tool.Expose(),
		Run: func(_ context.Context, c tool.Context[sullen], _ sayArgs) (tool.Result[sullen], error) {
			c.Metadata("live", sullen{"panic"}) // on the caller's goroutine
			c.Metadata("live", sullen{"panic"}) // when the call ends
			return tool.Result[sullen]{Output: "kept", Metadata: sullen{"error"}}, nil
		}})
	o := execOne(t, allowing(), one, `{"text":"a"}`)
	if o.Status != tool.Failed || !strings.Contains(o.Output, "kept") || !strings.Contains(o.Output, "encode metadata") {
		t.Errorf("%s %q", o.Status, o.Output)
	}
}

func TestExecFailures(t *testing.T) {
	coded := tool.Fail(tool.CodeStale, "%s changed; read it again: %w", "a.go", context.Canceled)
	for name, c := range map[string]struct {
		err    error
		status tool.Status
		code   string
		output string
	}{
		"plain":     {errors.New("it broke"), tool.Failed, tool.CodeFailed, "half\nit broke"},
		"coded":     {coded, tool.Failed, tool.CodeStale, "half\na.go changed; read it again: context canceled"},
		"wrapped":   {fmt.Errorf("edit: %w", tool.Fail(tool.CodeNoMatch, "no match")), tool.Failed, tool.CodeNoMatch, "half\nedit: no match"},
		"own limit": {context.DeadlineExceeded, tool.Failed, tool.CodeTimeout, "half\naborted: the time is up"},
		"denied":    {fmt.Errorf("cd: %w", tool.ErrDenied), tool.Denied, tool.CodeDenied, "half\ncd: denied"},
	} {
		t.Run(name, func(t *testing.T) {
			o := execOne(t, allowing(), say("x", running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
				return tool.Result[sayMeta]{Output: "half\n", Title: "t", Stop: true}, c.err
			})), `{"text":"a"}`)
			wantStatus(t, o, c.status, c.code)
			if o.Output != c.output || o.Stop || o.Title != "t" {
				t.Errorf("output %q, stop %t", o.Output, o.Stop)
			}
		})
	}
}

func TestExecFailureKeepsWhatWasStreamed(t *testing.T) {
	fail := func(m sayMeta) tool.Outcome {
		return execOne(t, allowing(), say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
			c.Metadata("working", sayMeta{Said: 1})
			c.Metadata("still working", sayMeta{Said: 2})
			return tool.Result[sayMeta]{Metadata: m}, errors.New("broke")
		})), `{"text":"a"}`)
	}
	if o := fail(sayMeta{}); string(o.Metadata) != `{"said":2}` || o.Title != "still working" {
		t.Errorf("%s %q", o.Metadata, o.Title)
	}
	if o := fail(sayMeta{Said: 9}); string(o.Metadata) != `{"said":9}` {
		t.Errorf("%s", o.Metadata)
	}
}

func TestExecContext(t *testing.T) {
	var got tool.Context[sayMeta]
	r := allowing()
	set := setOf(t, say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (r tool.Result[sayMeta], err error) {
		got = c
		return r, nil
	})))
	r.Exec(t.Context(), hydrateOne(t, r, set, `{"text":"a"}`))
	if got.SessionID != "s1" || got.MessageID != "m1" || got.Agent != "coder" || got.CallID != "c1" || got.Init.Workspace != "/w" {
		t.Errorf("%+v", got)
	}
	var zero tool.Context[sayMeta]
	zero.Metadata("t", sayMeta{})
	if err := zero.Ask(t.Context(), tool.Need{}); !errors.Is(err, tool.ErrDenied) {
		t.Errorf("a zero context allowed: %v", err)
	}
}

func TestExecUsesItsClock(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := allowing()
	r.Now = func() time.Time { now = now.Add(time.Second); return now }
	h := hydrateOne(t, r, setOf(t, say("x")), `{"text":"a"}`)
	o := r.Exec(t.Context(), h)
	if h.Provenance.Duration != time.Second || o.Duration != time.Second || o.Record.Duration != time.Second || o.Record.Start.Second() != 8 {
		t.Errorf("hydration %s, outcome %s, start %s", h.Provenance.Duration, o.Duration, o.Record.Start)
	}
}
