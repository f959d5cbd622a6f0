package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A person may allow a call otherwise than the model made it: with another command, or without some of the hunks of a
// change. What they change is a call like any other: it is parsed, validated and judged anew, and the model is told.

// Change is a call as it is to run instead of as it was made.
type Change struct {
	// Arguments are all of them, as JSON.
	Arguments string
	// Note tells the model what was changed, and why.
	Note string
}

// Editing is a text in the arguments of a call that a person may rewrite before it runs.
type Editing struct {
	Name string // of the argument
	Text string
	// With is the call with another text.
	With func(text string) Change
}

// editing is what a person may rewrite of a call; nil: nothing.
func (x *execution) editing() *Editing {
	name := x.h.prepared.editable
	if name == "" {
		return nil
	}
	var args map[string]json.RawMessage
	var text string
	if json.Unmarshal(x.h.Provenance.Parsed, &args) != nil || json.Unmarshal(args[name], &text) != nil {
		return nil
	}
	return &Editing{Name: name, Text: text, With: func(text string) Change {
		args[name], _ = json.Marshal(text) // a string always encodes
		raw, _ := json.Marshal(args)
		return Change{Arguments: string(raw), Note: fmt.Sprintf("the person changed %s before it ran, to:\n%s", name, text)}
	}}
}

// without is the call without some of the hunks that its preview shows, counted from 1.
func (x *execution) without(ctx context.Context, refused []int, why string) (*Change, error) {
	type kept struct {
		raw json.RawMessage
		err error
	}
	got, panicked := guard(x, func() (k kept) { k.raw, k.err = x.h.bound.without(ctx, refused); return k })
	if err := cmp.Or(panicked, got.err); err != nil {
		return nil, err
	}
	return &Change{Arguments: string(got.raw), Note: rejected(refused, why)}, nil
}

// rejected tells the model which hunks a person did not want.
func rejected(refused []int, why string) string {
	names := make([]string, len(refused))
	for i, n := range refused {
		names[i] = fmt.Sprint(n)
	}
	kind := "hunk"
	if len(refused) > 1 {
		kind = "hunks"
	}
	note := fmt.Sprintf("the person rejected %s %s of this change; the rest was made", kind, strings.Join(names, ", "))
	if why = strings.TrimSpace(why); why != "" {
		note += ". They say: " + why
	}
	return note
}

// offerChange adds to a question what a person may change about the call. What a tool asks while it runs is not changed.
func (x *execution) offerChange(q *Question) {
	q.Editing = x.editing()
	if x.h.bound.parts() {
		q.Without = x.without
	}
}

// amend puts a changed call in the place of the one that was asked about, and has it judged.
func (x *execution) amend(ctx context.Context, c *Change) error {
	h := x.h
	h.OK, h.Errors = false, nil
	args, faults := h.accept(c.Arguments)
	if len(faults) == 0 {
		h.instantiate(args)
		faults = h.Errors
	}
	if len(faults) > 0 {
		return Fail(CodeInvalidArguments, "the person changed the call to something that does not fit the tool: %s", strings.TrimSpace(faults[0].Path+" "+faults[0].Message))
	}
	h.Provenance.Repair = nil // nothing of the model's words is in force
	x.h, x.changed = h, c.Note
	x.note(func(r *Record) {
		r.Args, r.ArgsHash, r.Changed = h.Exposed(), hashOf(string(args.raw)), true
		r.Repair, r.Needs = "", nil
	})
	needs, err := guard(x, h.bound.needs)
	if err != nil {
		return err
	}
	d, err := x.ask(ctx, h.prepared.def.Permissions.cover(needs), func(q *Question) { q.Amended = true })
	if err == nil && d.Change != nil {
		return errors.New("a changed call was changed again")
	}
	return err
}

// told puts what a person changed before what a call gave.
func (x *execution) told(output string) string {
	if x.changed == "" {
		return output
	}
	return strings.TrimSuffix("("+x.changed+")\n\n"+output, "\n\n")
}
