package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/tool"
)

// editable is a tool whose text a user may rewrite and whose words are its hunks.
func editable(c *sayConfig) {
	c.Editable = "text"
	c.WithoutHunks = func(_ context.Context, in sayArgs, refused []int) (sayArgs, error) {
		words := strings.Fields(in.Text)
		for _, n := range refused {
			if n > len(words) {
				return in, errors.New("no such word")
			}
			words[n-1] = ""
		}
		in.Text = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
		return in, nil
	}
	c.Needs = func(in sayArgs) []tool.Need { return []tool.Need{{Permission: tool.Write, Target: in.Text}} }
	c.Permissions = tool.Requires(tool.Write)
}

// A call that a user rewrote is judged, stored and run as what it has become, and the model is
// told.
func TestAChangedCallIsJudgedAgain(t *testing.T) {
	var j journal
	r, _ := journaled(&j, func(_ context.Context, q tool.Question) (tool.Decision, error) {
		if q.Amended {
			if q.Editing != nil || q.WithoutHunks != nil {
				t.Error("a changed call can be changed again")
			}
			return tool.Decision{Allow: true}, nil
		}
		if q.Editing.Name != "text" || q.Editing.Text != "rm all" {
			t.Errorf("offered %+v", q.Editing)
		}
		change := q.Editing.WithText("rm one")
		return tool.Decision{Allow: true, Asked: true, Change: &change}, nil
	})
	o := execOne(t, r, say("x", editable), `{"text":"rm all","times":2}`)
	wantStatus(t, o, tool.Completed, "")
	want := []string{"gate [{write rm all   false  false false }]", "gate [{write rm one   false  false false }]", `intent {"times":2} decisions=2 status=""`}
	if got := strings.Join(j.all(), "\n"); !strings.Contains(got, want[0]) || strings.Index(got, want[1]) < strings.Index(got, want[0]) || strings.Index(got, want[2]) < strings.Index(got, want[1]) {
		t.Errorf("order:\n%s", got)
	}
	if o.Output != "(the person changed text before it ran, to:\nrm one)\n\nrm one" {
		t.Errorf("the model reads %q", o.Output)
	}
	if rec := o.Record; !rec.Changed || len(rec.Needs) != 1 || rec.Needs[0].Target != "rm one" || rec.ArgsHash == "" {
		t.Errorf("record %+v", rec)
	}
}

// Hunks are refused with a reason, which the model reads; what is left is judged.
func TestACallWithoutSomeOfItsHunks(t *testing.T) {
	r := &tool.Runner{Gate: tool.GateFunc(func(ctx context.Context, q tool.Question) (tool.Decision, error) {
		if q.Amended {
			return tool.Decision{Allow: true}, nil
		}
		change, err := q.WithoutHunks(ctx, []int{2, 3}, " too soon ")
		if err != nil {
			t.Error(err)
		}
		if _, err := q.WithoutHunks(ctx, []int{9}, ""); err == nil {
			t.Error("a hunk that is not there is refused")
		}
		return tool.Decision{Allow: true, Asked: true, Change: change}, nil
	})}
	o := execOne(t, r, say("x", editable), `{"text":"one two three four"}`)
	wantStatus(t, o, tool.Completed, "")
	if o.Output != "(the person rejected hunks 2, 3 of this change; the rest was made. They say: too soon)\n\none four" {
		t.Errorf("the model reads %q", o.Output)
	}
}

// A change never goes round what a call has to pass: the schema, a deny, or a second judgement.
func TestAChangeGoesRoundNothing(t *testing.T) {
	ran := false
	guarded := func(c *sayConfig) {
		editable(c)
		c.Run = func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
			ran = true
			return tool.Result[sayMeta]{}, nil
		}
	}
	for name, c := range map[string]struct {
		change tool.Change
		second tool.Decision
		status tool.Status
		says   string
	}{
		"a deny":           {tool.Change{Arguments: `{"text":"other"}`}, tool.Decision{Reason: "no rule lets it"}, tool.Denied, "no rule lets it"},
		"not JSON":         {tool.Change{Arguments: `{"text":`}, tool.Decision{Allow: true}, tool.Failed, "does not fit the tool"},
		"not its schema":   {tool.Change{Arguments: `{"text":"x","times":99}`}, tool.Decision{Allow: true}, tool.Failed, "/times"},
		"twice one name":   {tool.Change{Arguments: `{"text":"x","text":"y"}`}, tool.Decision{Allow: true}, tool.Failed, "twice"},
		"changed for ever": {tool.Change{Arguments: `{"text":"x"}`}, tool.Decision{Allow: true, Change: &tool.Change{Arguments: `{"text":"y"}`}}, tool.Failed, "changed again"},
	} {
		t.Run(name, func(t *testing.T) {
			ran = false
			r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
				if q.Amended {
					return c.second, nil
				}
				return tool.Decision{Allow: true, Asked: true, Change: &c.change}, nil
			})}
			o := execOne(t, r, say("x", guarded), `{"text":"first"}`)
			if o.Status != c.status || !strings.Contains(o.Output, c.says) || ran {
				t.Errorf("%s %q, ran %v", o.Status, o.Output, ran)
			}
		})
	}
}

// What a tool asks for while it runs is part of the call that was allowed: it is not changed.
func TestWhatIsAskedWhileRunningIsNotChanged(t *testing.T) {
	asks := 0
	r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		if asks++; asks == 2 && (q.Editing != nil || q.WithoutHunks != nil) {
			t.Error("it is offered")
		}
		return tool.Decision{Allow: true}, nil
	})}
	o := execOne(t, r, say("x", editable, running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		return tool.Result[sayMeta]{}, c.Ask(ctx, tool.Need{Permission: tool.Read, Target: "more"})
	})), `{"text":"x"}`)
	if o.Status != tool.Completed || asks != 2 {
		t.Errorf("%s after %d questions", o.Status, asks)
	}
}

func TestOnlyAnArgumentIsEditable(t *testing.T) {
	var r tool.Registry
	if err := r.Register(say("x", func(c *sayConfig) { c.Editable = "words" })); err == nil || !strings.Contains(fmt.Sprint(err), `editable "words" is not a property`) {
		t.Errorf("%v", err)
	}
}

// Arguments that a hook wants are checked without repair, judged once, as what the call has become,
// and told.
func TestChangedArgumentsAreJudgedAsWhatTheyBecome(t *testing.T) {
	for name, c := range map[string]struct {
		args, want, output string
		origin             tool.Origin
	}{
		"fits":             {`{"text":"rm one"}`, "rm one", "(a hook did it)\n\nrm one", tool.FromHook},
		"breaks":           {`{"txt":"rm one"}`, "rm all", "rm all", tool.Native},
		"needs a repair":   {`{'text':'rm one'}`, "rm all", "rm all", tool.Native},
		"is not an object": {`["rm one"]`, "rm all", "rm all", tool.Native},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal
			r, _ := journaled(&j, func(_ context.Context, q tool.Question) (tool.Decision, error) {
				if q.Origin != c.origin || q.Needs[0].Target != c.want || q.Wanted != "look" {
					t.Errorf("judged %s %+v, wanted %q", q.Origin, q.Needs, q.Wanted)
				}
				return tool.Decision{Allow: true}, nil
			})
			var after []string
			r.Before = func(_ context.Context, l tool.Look) tool.Ruling {
				if err := l.Change([]byte(c.args), "a hook did it"); (err != nil) != (c.origin == tool.Native) {
					t.Errorf("changing: %v", err)
				}
				return tool.Ruling{Ask: "look", Hook: "hook x"}
			}
			r.After = func(_ context.Context, l tool.Look) tool.Ruling {
				after = append(after, string(l.Arguments)+" "+string(l.Outcome.Status))
				panic("a hook that fails is no failure of the call")
			}
			o := execOne(t, r, say("x", editable), `{"text":"rm all"}`)
			wantStatus(t, o, tool.Completed, "")
			if gates := strings.Count(strings.Join(j.all(), "\n"), "gate ["); gates != 1 || o.Output != c.output || o.Record.Changed != (c.origin == tool.FromHook) || o.Record.Origin != c.origin {
				t.Errorf("judged %d times, the model reads %q, record %+v", gates, o.Output, o.Record)
			}
			if len(after) != 1 || !strings.Contains(after[0], c.want) {
				t.Errorf("afterwards %q", after)
			}
		})
	}
}

// A denial of a hook is one whatever the gate would say, and a hook that panics has not allowed
// anything.
func TestAHookDeniesBeforeTheGate(t *testing.T) {
	for name, before := range map[string]func(context.Context, tool.Look) tool.Ruling{
		"deny": func(context.Context, tool.Look) tool.Ruling {
			return tool.Ruling{Deny: "no", Hook: "hook x", Stop: true}
		},
		"panics": func(context.Context, tool.Look) tool.Ruling { panic("x") },
	} {
		var j journal
		r, _ := journaled(&j, func(context.Context, tool.Question) (tool.Decision, error) {
			t.Errorf("%s: the gate was asked", name)
			return tool.Decision{Allow: true}, nil
		})
		r.Before = before
		r.After = func(context.Context, tool.Look) tool.Ruling {
			t.Errorf("%s: told of a call that did not run", name)
			return tool.Ruling{}
		}
		if o := execOne(t, r, say("x", editable), `{"text":"a"}`); o.Status == tool.Completed || o.Stop != (name == "deny") || name == "deny" && (o.Status != tool.Denied || o.Record.Decisions[0].Layer != "hook x") {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// What a user wrote is seen by hooks, which may deny it and change nothing of it.
func TestHooksSeeWhatAPersonWrote(t *testing.T) {
	var j journal
	r, _ := journaled(&j, func(_ context.Context, q tool.Question) (tool.Decision, error) {
		change := tool.Change{Arguments: `{"text":"mine"}`, Note: "changed"}
		return tool.Decision{Allow: true, Asked: true, Change: &change}, nil
	})
	var saw []string
	r.Before = func(_ context.Context, l tool.Look) tool.Ruling {
		if saw = append(saw, string(l.Arguments)); len(saw) == 1 {
			return tool.Ruling{}
		}
		if l.Change([]byte(`{"text":"other"}`), "") == nil {
			t.Error("a hook changed what a person wrote")
		}
		return tool.Ruling{Deny: "not this"}
	}
	o := execOne(t, r, say("x", editable), `{"text":"rm all"}`)
	if wantStatus(t, o, tool.Denied, tool.CodeDenied); len(saw) != 2 || saw[1] != `{"text":"mine"}` {
		t.Errorf("hooks saw %q", saw)
	}
}
