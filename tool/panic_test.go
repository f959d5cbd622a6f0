package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/tool"
)

// A tool whose initialisation panics is an error with its name.
func TestAPanickingInitIsAnError(t *testing.T) {
	var r tool.Registry
	bad := tool.DefineFunc("bad", func(context.Context, tool.Init) (sayConfig, error) { panic("no server") })
	if err := errors.Join(r.Register(say("good")), r.Register(bad)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Tools(t.Context(), tool.Init{}); err == nil || !strings.Contains(err.Error(), "tool bad: initialise: it failed inside: no server") {
		t.Errorf("%v", err)
	}
	if _, ok := r.Get("bad"); ok {
		t.Error("it can be got")
	}
	if got := r.Enabled(tool.Read, tool.Write); len(got) != 1 || got[0].Name != "good" {
		t.Errorf("enabled: %v", got)
	}
}

// brittle is a validator that panics when it compiles, when it says its name, or when it checks.
type brittle struct{ where string }

func (b brittle) blow(here string) {
	if b.where == here {
		panic("boom in " + here)
	}
}
func (b brittle) Name() string    { b.blow("Name"); return "brittle" }
func (b brittle) Version() string { b.blow("Version"); return "1" }
func (b brittle) Compile(json.RawMessage) (tool.Check, error) {
	b.blow("Compile")
	return func(any) []tool.Fault { b.blow("check"); return nil }, nil
}

// A validator that panics makes calls invalid, every one of them, and an eager registry refuse.
func TestAPanickingValidatorEndsOneCall(t *testing.T) {
	for _, where := range []string{"Compile", "Name", "Version", "check"} {
		r := tool.Registry{Validator: brittle{where}}
		if err := r.Register(say("x")); err != nil {
			t.Fatal(err)
		}
		set, err := r.Tools(t.Context(), tool.Init{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			run := allowing()
			h := hydrateOne(t, run, set, `{"text":"a"}`)
			wantStatus(t, run.Exec(t.Context(), h), tool.Invalid, tool.CodePanic)
		}
		r.CompileAll = true
		if _, err := r.Tools(t.Context(), tool.Init{}); err == nil && where != "check" {
			t.Errorf("%s: an eager registry took it", where)
		}
	}
}

// touchy is metadata that panics when it is read back.
type touchy struct{}

func (*touchy) UnmarshalJSON([]byte) error { panic("decode") }

// Metadata that cannot be decoded for a view is drawn by the fallback.
func TestMetadataThatPanicsIsDrawnAllTheSame(t *testing.T) {
	set := setOf(t, tool.Define("x", tool.Config[sayArgs, touchy]{
		Redact: tool.Expose(), View: func(touchy) []tool.Block { return nil },
		Run: func(context.Context, tool.Context[touchy], sayArgs) (r tool.Result[touchy], err error) { return r, nil },
	}))
	if blocks := set.Blocks("x", rawJSON(`{"a":1}`)); len(blocks) == 0 {
		t.Error("nothing is drawn")
	}
}

// A Run that ends its goroutine, as runtime.Goexit does, ends its call.
func TestARunThatEndsItsGoroutineFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := execOne(t, allowing(), say("x", running(func(context.Context, tool.Context[sayMeta], sayArgs) (r tool.Result[sayMeta], err error) {
			runtime.Goexit()
			return r, nil
		})), `{"text":"a"}`)
		wantStatus(t, o, tool.Failed, tool.CodePanic)
	})
}

// An observer that panics on a timer's goroutine takes nothing with it.
func TestAnObserverThatPanicsLaterHurtsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := allowing()
		r.Emit = func(e tool.Event) {
			if e.Kind == tool.Updated {
				panic("no pane")
			}
		}
		o := execOne(t, r, say("x", running(func(_ context.Context, c tool.Context[sayMeta], _ sayArgs) (r tool.Result[sayMeta], err error) {
			c.Metadata("one", sayMeta{1})
			c.Metadata("two", sayMeta{2})
			time.Sleep(time.Second)
			return r, nil
		})), `{"text":"a"}`)
		wantStatus(t, o, tool.Completed, "")
	})
}
