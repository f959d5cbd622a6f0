package tool_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/tool"
)

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// ticking is a clock that advances a second at each look.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func TestARecordHoldsEverythingButWhatIsPrivate(t *testing.T) {
	decision := tool.Decision{Allow: true, Rule: "allow write(work:a)", Layer: "user"}
	need := tool.Need{Permission: tool.Write, Target: "a"}
	var intent tool.Record
	r := allowing()
	r.Now = ticking()
	r.Gate = tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return decision, nil })
	r.Intent = func(_ context.Context, rec tool.Record) error { intent = rec; return nil }
	set := setOf(t, say("say", writing, needing(func(sayArgs) []tool.Need { return []tool.Need{need} })))
	arguments := `{"text":"the secret","times":2}`
	o := r.Exec(t.Context(), hydrateOne(t, r, set, arguments))

	def, _ := set.Get("say")
	want := tool.Record{
		Session: "s1", Message: "m1", Agent: "coder", Call: "c1", Tool: "say", Digest: def.Digest, Origin: tool.Native,
		Validated: true, Args: json.RawMessage(`{"times":2}`), ArgsHash: sha(arguments),
		Needs: []tool.Need{need}, Decisions: []tool.Decision{decision}, Start: o.Record.Start,
	}
	if d := cmp.Diff(want, intent, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("intent (-want +got):\n%s", d)
	}
	want.Status, want.Duration, want.OutputHash = tool.Completed, time.Second, sha("the secret")
	if d := cmp.Diff(want, o.Record, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("record (-want +got):\n%s", d)
	}
	raw, err := json.Marshal(o.Record)
	if err != nil || strings.Contains(string(raw), "the secret") {
		t.Errorf("a field that is not exposed is in the record: %s %v", raw, err)
	}
}

func TestTheOutcomeKeepsARepairBeforeAndAfter(t *testing.T) {
	before := `"{\"text\":\"hi\"}"`
	o := execOne(t, allowing(), say("say"), before)
	wantStatus(t, o, tool.Completed, "")
	if o.Repair == nil || o.Repair.Before != before || string(o.Repair.After) != `{"text":"hi"}` || o.Record.Repair != o.Repair.Kind {
		t.Errorf("repair = %+v, record says %q", o.Repair, o.Record.Repair)
	}
	if o.Record.ArgsHash != sha(`{"text":"hi"}`) {
		t.Error("the hash is not that of what ran")
	}
}

// What a call touches is kept although Redact exposes no argument: a decision proves nothing
// without it.
func TestNeedsAreLoggableAndArgumentsAreNot(t *testing.T) {
	one := say("say", func(c *sayConfig) { c.Redact, c.Permissions = tool.Expose(), tool.Requires(tool.Network) }, needing(func(in sayArgs) []tool.Need {
		return []tool.Need{{Permission: tool.Network, Target: "host.example"}}
	}))
	o := execOne(t, allowing(), one, `{"text":"token","times":3}`)
	if string(o.Record.Args) != `{}` {
		t.Errorf("args = %s", o.Record.Args)
	}
	if len(o.Record.Needs) != 1 || o.Record.Needs[0].Target != "host.example" {
		t.Errorf("needs = %v", o.Record.Needs)
	}
}

func TestAPanicIsBoundedAndStaysLocal(t *testing.T) {
	o := execOne(t, allowing(), say("say", running(func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error) {
		panic(strings.Repeat("long ", 100_000))
	})), `{"text":"x"}`)
	if n := len([]rune(o.Record.Panic)); n > 8_001 || !strings.Contains(o.Record.Panic, "record_test.go") {
		t.Errorf("%d runes of panic are kept, or not the frame that failed:\n%.300s", n, o.Record.Panic)
	}
	if p := o.Record.Public().Panic; p == "" || strings.Contains(p, "long") || strings.Contains(p, "goroutine") {
		t.Errorf("the public record says %q", p)
	}
}

// A right that a running call asks for is stored before what it allows happens.
func TestADecisionWhileRunningIsStoredBeforeItsEffect(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    tool.Permission
		intents int
	}{{"reads", tool.Read, 1}, {"writes", tool.Write, 2}, {"executes", tool.Execute, 2}} {
		t.Run(c.name, func(t *testing.T) {
			var decisions []int
			r := allowing()
			r.Intent = func(_ context.Context, rec tool.Record) error {
				decisions = append(decisions, len(rec.Decisions))
				return nil
			}
			effect := func(ctx context.Context, call tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
				err := call.Ask(ctx, tool.Need{Permission: c.kind, Target: "b"})
				if want := len(decisions); want != c.intents || decisions[want-1] != c.intents {
					t.Errorf("at the effect the intents hold %v decisions, want %d", decisions, c.intents)
				}
				return tool.Result[sayMeta]{}, err
			}
			wantStatus(t, execOne(t, r, say("say", writing, running(effect)), `{"text":"x"}`), tool.Completed, "")

			// Declared to read only, it names what it changes all the same.
			decisions = nil
			r = allowing()
			r.Intent = func(context.Context, tool.Record) error { decisions = append(decisions, 1); return nil }
			needs := needing(func(sayArgs) []tool.Need { return []tool.Need{{Permission: c.kind, Target: "a"}} })
			wantStatus(t, execOne(t, r, say("say", needs), `{"text":"x"}`), tool.Completed, "")
			if len(decisions) != c.intents-1 {
				t.Errorf("declared wrongly: %d intents, want %d", len(decisions), c.intents-1)
			}
		})
	}
}

func TestADecisionThatCannotBeStoredAllowsNothing(t *testing.T) {
	saved := 0
	r := allowing()
	r.Intent = func(context.Context, tool.Record) error {
		if saved++; saved > 1 {
			return errors.New("disk full")
		}
		return nil
	}
	o := execOne(t, r, say("say", writing, running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (tool.Result[sayMeta], error) {
		if err := c.Ask(ctx, tool.Need{Permission: tool.Write, Target: "b"}); err != nil {
			return tool.Result[sayMeta]{}, err
		}
		t.Error("the effect happened")
		return tool.Result[sayMeta]{}, nil
	})), `{"text":"x"}`)
	wantStatus(t, o, tool.Failed, tool.CodeIO)
}

func TestSkipMakesAWholeRecordAndTheCallNeverRuns(t *testing.T) {
	r := allowing()
	var ran []sayArgs
	h := hydrateOne(t, r, setOf(t, say("say", running(recording(&ran)))), `{"text":"x","times":2}`)
	o := r.Skip(h, tool.CodeLimit, "not run: enough")
	wantStatus(t, o, tool.Aborted, tool.CodeLimit)
	if o.Output != "not run: enough" || o.Record.OutputHash != sha(o.Output) || string(o.Record.Args) != `{"times":2}` || o.Record.Message != "m1" {
		t.Errorf("outcome = %+v", o)
	}
	wantStatus(t, r.Exec(t.Context(), h), tool.Failed, tool.CodeDuplicateCall)
	if len(ran) != 0 {
		t.Error("a skipped call ran")
	}
}
