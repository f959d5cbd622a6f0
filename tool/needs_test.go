package tool_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/tool"
)

// needsOf is what the gate is asked for one call.
func needsOf(t *testing.T, one tool.Tool) []tool.Need {
	t.Helper()
	var asked []tool.Need
	r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		asked = append(asked, q.Needs...)
		return tool.Decision{}, nil
	})}
	o := execOne(t, r, one, `{"text":"a"}`)
	wantStatus(t, o, tool.Denied, tool.CodeDenied)
	if d := cmp.Diff(asked, o.Record.Needs); d != "" {
		t.Errorf("the record has other needs than the gate saw (-gate +record):\n%s", d)
	}
	return asked
}

// A required permission that no need covers is asked for as the widest need of its kind, and so is
// a need that names nothing.
func TestUncoveredPermissionsBecomeTheWidestNeed(t *testing.T) {
	all := []tool.Permission{tool.Read, tool.Write, tool.Execute, tool.Network}
	anything := func(kinds ...tool.Permission) (needs []tool.Need) {
		for _, k := range kinds {
			needs = append(needs, tool.Need{Permission: k, Reach: tool.Anything})
		}
		return needs
	}
	file := tool.Need{Permission: tool.Write, Target: "a"}
	for name, c := range map[string]struct {
		required []tool.Permission
		needs    func(sayArgs) []tool.Need
		want     []tool.Need
	}{
		"no Needs":              {all, nil, anything(all...)},
		"Needs says nothing":    {all, func(sayArgs) []tool.Need { return nil }, anything(all...)},
		"Needs covers one":      {all, func(sayArgs) []tool.Need { return []tool.Need{file} }, append([]tool.Need{file}, anything(tool.Read, tool.Execute, tool.Network)...)},
		"a need without target": {[]tool.Permission{tool.Write}, func(sayArgs) []tool.Need { return []tool.Need{{Permission: tool.Write}} }, anything(tool.Write)},
		"nothing is required":   {nil, nil, nil},
		"everything is covered": {[]tool.Permission{tool.Write}, func(sayArgs) []tool.Need { return []tool.Need{file} }, []tool.Need{file}},
	} {
		t.Run(name, func(t *testing.T) {
			got := needsOf(t, say("x", needing(c.needs), func(s *sayConfig) { s.Permissions = tool.Requires(c.required...) }))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What is asked while the tool runs is widened in the same way.
func TestAskWithoutATargetIsTheWidestNeed(t *testing.T) {
	var last tool.Need
	r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		last = q.Needs[len(q.Needs)-1]
		return tool.Decision{Allow: true}, nil
	})}
	execOne(t, r, say("x", running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (res tool.Result[sayMeta], err error) {
		return res, c.Ask(ctx, tool.Need{Permission: tool.Execute})
	})), `{"text":"a"}`)
	if last.Reach != tool.Anything {
		t.Errorf("%+v", last)
	}
}

// A tool without a schema that may only read does nothing else, whatever a gate allows; its mode is
// in the record, in the provenance and in what is announced.
func TestNoSchemaModeIsKeptWhateverTheGateSays(t *testing.T) {
	for _, c := range []struct {
		mode tool.NoSchemaMode
		kind tool.Permission
		want tool.Status
	}{
		{tool.NoSchemaReadOnly, tool.Read, tool.Completed},
		{tool.NoSchemaReadOnly, tool.Write, tool.Denied},
		{tool.NoSchemaReadOnly, tool.Network, tool.Denied},
		{tool.NoSchemaApproval, tool.Write, tool.Completed},
		{tool.NoSchemaFull, tool.Write, tool.Completed},
	} {
		var announced tool.NoSchemaMode
		r := allowing()
		r.Emit = func(e tool.Event) {
			if e.Kind == tool.Started {
				announced = e.NoSchemaMode
			}
		}
		set := setOf(t, say("x", func(s *sayConfig) {
			s.AllowNoSchema, s.NoSchemaMode, s.Permissions = true, c.mode, tool.Requires(c.kind)
		}))
		h := hydrateOne(t, r, set, `{"text":"a"}`)
		o := r.Exec(t.Context(), h)
		if o.Status != c.want {
			t.Errorf("%s, %s: %s: %s", c.mode, c.kind, o.Status, o.Output)
		}
		if o.Record.NoSchemaMode != c.mode || h.Provenance.NoSchemaMode != c.mode || announced != c.mode {
			t.Errorf("%s: record %q, provenance %q, announced %q", c.mode, o.Record.NoSchemaMode, h.Provenance.NoSchemaMode, announced)
		}
	}
}

// The gate gets the repair itself, so that a user can look at it, and learns when a user has seen
// the call.
func TestTheGateSeesTheRepair(t *testing.T) {
	var asked []tool.Question
	r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		asked = append(asked, q)
		return tool.Decision{Allow: true, Asked: true}, nil
	})}
	before := `{"text":"a",}`
	execOne(t, r, say("x", writing, running(func(ctx context.Context, c tool.Context[sayMeta], _ sayArgs) (res tool.Result[sayMeta], err error) {
		return res, c.Ask(ctx, tool.Need{Permission: tool.Write, Target: "b"})
	})), before)
	if len(asked) != 2 || asked[0].Repair == nil || asked[0].Repair.Before != before || !asked[0].Repair.Guessed() {
		t.Fatalf("%d questions, the first %+v", len(asked), asked[0].Repair)
	}
	if asked[0].Reviewed || !asked[1].Reviewed {
		t.Errorf("reviewed: first %t, then %t", asked[0].Reviewed, asked[1].Reviewed)
	}
}
