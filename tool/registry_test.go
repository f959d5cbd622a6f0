package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"adze/tool"

	"github.com/google/go-cmp/cmp"
)

func TestRegistryConcurrency(t *testing.T) {
	var r tool.Registry
	if err := r.Register(say("fixed", func(c *sayConfig) { c.Tags = []string{"t"} })); err != nil {
		t.Fatal(err)
	}
	runner := allowing()
	var wg sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprintf("tool_%d", i)
		wg.Go(func() {
			for range 50 {
				if err := r.Register(say(name)); err != nil {
					t.Error(err)
				}
				set, err := r.Tools(t.Context(), tool.Init{Vars: map[string]string{"a": "b"}})
				if err != nil {
					t.Error(err)
					return
				}
				if _, ok := set.Get(name); !ok {
					t.Errorf("%s is missing", name)
				}
				h := runner.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "fixed", Arguments: `{"text":"x"}`}})
				if o := runner.Exec(t.Context(), h[0]); o.Status != tool.Completed {
					t.Error(o.Output)
				}
				r.Enabled(tool.Read)
				r.Get("fixed")
				if !r.Unregister(name) {
					t.Errorf("%s was not registered", name)
				}
				if _, ok := set.Get(name); !ok {
					t.Errorf("a set lost %s", name)
				}
			}
		})
	}
	wg.Wait()
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil || !slices.Equal(set.Names(), []string{"fixed"}) {
		t.Errorf("%v, %v", set.Names(), err)
	}
}

func TestSetIsSharedByManyCalls(t *testing.T) {
	set := setOf(t, say("a"), say("b"))
	r := allowing()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for _, name := range []string{"a", "b", "c"} {
					h := r.Hydrate(t.Context(), set, []tool.RawCall{{ID: "1", Name: name, Arguments: `{"text":"x"}`}})[0]
					if h.OK != (name != "c") {
						t.Errorf("%s: %v", name, h.Errors)
					}
				}
				set.Digest()
				set.Definitions()
			}
		})
	}
	wg.Wait()
}

func TestRegistryEnabled(t *testing.T) {
	var r tool.Registry
	for _, one := range []tool.Tool{
		say("none", func(c *sayConfig) { c.Permissions = tool.Permissions{} }),
		say("reads"),
		say("writes", writing),
		say("both", func(c *sayConfig) { c.Permissions = tool.Requires(tool.Read, tool.Write) }),
		say("may", func(c *sayConfig) { c.Permissions = tool.Requires(tool.Read).MayUse(tool.Network) }),
	} {
		if err := r.Register(one); err != nil {
			t.Fatal(err)
		}
	}
	names := func(ds []tool.Definition) (out []string) {
		for _, d := range ds {
			out = append(out, d.Name)
		}
		return out
	}
	for _, c := range []struct {
		granted []tool.Permission
		want    []string
	}{
		{nil, []string{"none"}},
		{[]tool.Permission{tool.Read}, []string{"none", "reads", "may"}},
		{[]tool.Permission{tool.Write, tool.Read}, []string{"none", "reads", "writes", "both", "may"}},
	} {
		if diff := cmp.Diff(c.want, names(r.Enabled(c.granted...))); diff != "" {
			t.Errorf("%v: %s", c.granted, diff)
		}
	}
}

func TestRegistryGetDoesNotWakeTheOthers(t *testing.T) {
	var r tool.Registry
	woken := 0
	if err := errors.Join(r.Register(say("x")), r.Register(tool.DefineFunc("lazy", func(context.Context, tool.Init) (sayConfig, error) {
		woken++
		return sayConfig{}, errors.New("the server is away")
	}))); err != nil {
		t.Fatal(err)
	}
	if d, ok := r.Get("x"); !ok || d.Name != "x" || woken != 0 {
		t.Errorf("%+v, %t, woken %d times", d, ok, woken)
	}
	if _, ok := r.Get("nobody"); ok {
		t.Error("found nobody")
	}
}

func TestSetOnly(t *testing.T) {
	set := setOf(t, say("a", func(c *sayConfig) { c.Aliases = []string{"z"} }), say("b", func(c *sayConfig) { c.Aliases = []string{"y"} }))
	only := set.Only(func(d tool.Definition) bool { return d.Name == "b" })
	if !slices.Equal(only.Names(), []string{"b"}) || only.Digest() == set.Digest() || len(set.Names()) != 2 {
		t.Errorf("%v of %v", only.Names(), set.Names())
	}
	for _, c := range []struct {
		set         *tool.Set
		alias, want string
	}{{set, "z", "a"}, {set, "y", "b"}, {only, "y", "b"}, {only, "z", "z"}} {
		h := allowing().Hydrate(t.Context(), c.set, []tool.RawCall{{ID: "1", Name: c.alias, Arguments: `{"text":"x"}`}})[0]
		if h.Tool != c.want {
			t.Errorf("%s is %q, want %q", c.alias, h.Tool, c.want)
		}
	}
	if same := set.Only(func(tool.Definition) bool { return true }); same.Digest() != set.Digest() {
		t.Error("the same selection has another digest")
	}
}

func TestSetKeepsItsVariables(t *testing.T) {
	vars := map[string]string{"who": "before"}
	var r tool.Registry
	var got tool.Init
	if err := r.Register(say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (r tool.Result[sayMeta], err error) {
		got = c.Init
		return r, nil
	}))); err != nil {
		t.Fatal(err)
	}
	set, err := r.Tools(t.Context(), tool.Init{Vars: vars})
	if err != nil {
		t.Fatal(err)
	}
	vars["who"] = "after"
	run := allowing()
	run.Exec(t.Context(), hydrateOne(t, run, set, `{"text":"x"}`))
	if got.Vars["who"] != "before" {
		t.Errorf("a set changed: %v", got.Vars)
	}
}

// counting is a Validator that remembers what it did.
type counting struct{ compiled atomic.Int32 }

func (*counting) Name() string    { return "counting" }
func (*counting) Version() string { return "1" }
func (c *counting) Compile(schema json.RawMessage) (tool.Check, error) {
	c.compiled.Add(1)
	if string(schema) == `{"title":"bad"}` {
		return nil, errors.New("bad")
	}
	return func(any) []tool.Fault { return nil }, nil
}

func TestRegistryValidatorIsPluggableAndLazy(t *testing.T) {
	validator := &counting{}
	r := tool.Registry{Validator: validator}
	bad := say("bad", func(c *sayConfig) { c.Parameters = rawJSON(`{"title":"bad"}`) })
	if err := errors.Join(r.Register(say("x")), r.Register(bad)); err != nil {
		t.Fatal(err)
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil || validator.compiled.Load() != 0 {
		t.Fatalf("%v, compiled %d times before a call", err, validator.compiled.Load())
	}
	run := allowing()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			h := hydrateOne(t, run, set, `{"text":"x"}`)
			if !h.OK || h.Provenance.Validator.Name != "counting" {
				t.Errorf("%+v", h)
			}
		})
	}
	wg.Wait()
	if n := validator.compiled.Load(); n != 1 {
		t.Errorf("compiled %d times", n)
	}
	h := run.Hydrate(t.Context(), set, []tool.RawCall{{ID: "1", Name: "bad", Arguments: `{}`}})[0]
	if h.OK || h.Errors[0].Stage != tool.StageValidate || h.Errors[0].Code != tool.CodePanic {
		t.Errorf("%+v", h.Errors)
	}
}

func TestRedaction(t *testing.T) {
	for _, c := range []struct {
		redact    tool.Redaction
		raw, want string
	}{
		{tool.Expose("a", "b"), `{"a":1,"b":{"secret":true},"c":"no"}`, `{"a":1,"b":{"secret":true}}`},
		{tool.Expose(), `{"a":1}`, `{}`},
		{tool.Expose("a"), `{"A":1,"b":{"a":2}}`, `{}`},
		{tool.Expose("a"), `[{"a":1}]`, `{}`},
		{tool.Expose("a"), `"a"`, `{}`},
		{tool.Expose("a"), `null`, `{}`},
		{tool.Expose("a"), ``, `{}`},
		{tool.Expose("a"), `{"a":`, `{}`},
		{tool.Redaction{}, `{"a":1}`, `{}`},
		{tool.Expose("b", "a"), `{"b":9007199254740993,"a":"<x>"}`, `{"a":"\u003cx\u003e","b":9007199254740993}`},
	} {
		if got := c.redact.Apply(rawJSON(c.raw)); string(got) != c.want {
			t.Errorf("%s became %s, want %s", c.raw, got, c.want)
		}
	}
	fields := []string{"a"}
	redact := tool.Expose(fields...)
	fields[0] = "secret"
	if got := redact.Apply(rawJSON(`{"a":1,"secret":2}`)); string(got) != `{"a":1}` {
		t.Errorf("the list changed from outside: %s", got)
	}
}

func TestConcurrent(t *testing.T) {
	for _, c := range []struct {
		p    tool.Permissions
		want bool
	}{
		{tool.Requires(tool.Read), true},
		{tool.Requires(tool.Read, tool.Network), true},
		{tool.Requires(tool.Write), false},
		{tool.Requires(tool.Execute, tool.Read), false},
		{tool.Requires(tool.Read).MayUse(tool.Write), false},
		{tool.Permissions{}, false},
	} {
		h := hydrateOne(t, allowing(), setOf(t, say("x", func(cfg *sayConfig) { cfg.Permissions = c.p })), `{"text":"x"}`)
		if h.Concurrent() != c.want {
			t.Errorf("%+v: %t", c.p, h.Concurrent())
		}
	}
	base := tool.Permissions{Optional: append(make([]tool.Permission, 0, 8), tool.Network)}
	a, b := base.MayUse(tool.Write), base.MayUse(tool.Execute)
	if a.Optional[1] != tool.Write || b.Optional[1] != tool.Execute || len(base.Optional) != 1 {
		t.Errorf("MayUse shares its list: %v, %v, %v", base, a, b)
	}
}

func TestNearest(t *testing.T) {
	tools := []string{"read", "write", "edit", "glob", "grep", "list", "bash", "todoread", "todowrite", "task_complete"}
	for _, c := range []struct {
		name string
		n    int
		want []string
	}{
		{"raed", 3, []string{"read"}},
		{"READ", 1, []string{"read"}},
		{"read-file", 3, []string{"read"}},
		{"todo_write", 1, []string{"todowrite"}},
		{"todo", 3, []string{"todoread", "todowrite"}},
		{"taskcomplete", 1, []string{"task_complete"}},
		{"gerp", 2, []string{"grep"}},
		{"xyz", 3, []string{}},
		{"", 3, []string{}},
		{"read", 0, []string{}},
		{"read", -1, []string{}},
	} {
		if diff := cmp.Diff(c.want, tool.Nearest(c.name, tools, c.n)); diff != "" {
			t.Errorf("%q: %s", c.name, diff)
		}
	}
	if got := tool.Nearest("a", nil, 3); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("x"), tool.CodeFailed},
		{fmt.Errorf("x: %w", tool.ErrDenied), tool.CodeDenied},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), tool.CodeTimeout},
		{context.Canceled, tool.CodeAborted},
		{tool.Fail(tool.CodeStale, "x"), tool.CodeStale},
		{fmt.Errorf("y: %w", tool.Fail(tool.CodeStale, "x: %w", context.Canceled)), tool.CodeStale},
	} {
		if got := tool.CodeOf(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	cause := errors.New("cause")
	if err := tool.Fail(tool.CodeIO, "read: %w; try again", cause); !errors.Is(err, cause) || err.Error() != "read: cause; try again" {
		t.Errorf("%v", err)
	}
}
