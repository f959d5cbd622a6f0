package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A user may allow a call otherwise than the model made it: with another command, or without some
// of the hunks of a change; and programs that they put beside the pipeline, hooks, may want other
// arguments. What is changed is a call like any other: it is parsed, validated and judged as what
// it has become, and the model is told.

// Change is a call as it is to run instead of as it was made.
type Change struct {
	// Arguments are all of them, as JSON.
	Arguments string
	// Note tells the model what was changed, and why.
	Note string
}

// Editing is a text in the arguments of a call that a user may rewrite before it runs.
type Editing struct {
	Name string // of the argument
	Text string
	// With is the call with another text.
	With func(text string) Change
}

// editing is what a user may rewrite of a call; if nil, nothing.
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

// rejected tells the model which hunks a user did not want.
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

// offerChange adds to a question what a user may change about the call. What a tool asks while it
// runs is not changed.
func (x *execution) offerChange(q *Question) {
	q.Editing = x.editing()
	if x.h.bound.parts() {
		q.Without = x.without
	}
}

// amend puts a call that a user changed in the place of the one that was asked about, and has it
// judged.
func (x *execution) amend(ctx context.Context, c *Change) error {
	if faults := x.rewrite(c.Arguments, c.Note, ""); len(faults) > 0 {
		return Fail(CodeInvalidArguments, "the person changed the call to something that does not fit the tool: %s", unfit(faults))
	}
	if _, err := x.heed(ctx, false); err != nil {
		return err
	}
	needs, err := guard(x, x.h.bound.needs)
	if err != nil {
		return err
	}
	d, err := x.ask(ctx, x.h.prepared.def.Permissions.cover(needs), func(q *Question) { q.Amended = true })
	if err == nil && d.Change != nil {
		return errors.New("a changed call was changed again")
	}
	return err
}

// rewrite puts other arguments in the place of those of the call, unrepaired; with faults nothing
// has changed. An origin is where they are from; if empty, a user wrote them.
func (x *execution) rewrite(arguments, note string, origin Origin) []Fault {
	h := x.h
	h.OK, h.Errors = false, nil
	args, faults := h.accept(arguments)
	if len(faults) == 0 {
		h.instantiate(args)
		faults = h.Errors
	}
	if len(faults) > 0 {
		return faults
	}
	if origin == "" {
		h.Provenance.Repair = nil // nothing of the model's words is in force
	} else {
		h.Provenance.Origin = origin
	}
	x.h, x.changed = h, strings.TrimPrefix(x.changed+"\n"+note, "\n")
	x.note(func(r *Record) {
		r.Args, r.ArgsHash, r.Changed, r.Origin = h.Exposed(), hashOf(string(args.raw)), true, h.Provenance.Origin
		if r.Needs = nil; origin == "" {
			r.Repair = ""
		}
	})
	return nil
}

func unfit(faults []Fault) string { return strings.TrimSpace(faults[0].Path + " " + faults[0].Message) }

// Look is a call as hooks see it: valid, and not judged yet; with an Outcome, after it ran.
type Look struct {
	Call      CallID
	Tool      string
	Arguments json.RawMessage
	// Change puts other arguments, all of them, in the place of these before the call is judged. An
	// error says why they do not fit; the call then stays as it is. Note tells the model.
	Change  func(arguments json.RawMessage, note string) error
	Outcome *Outcome
}

// Ruling is what hooks say of a call. It can only narrow: what neither denies nor asks is judged as
// if there were none.
type Ruling struct {
	Deny string // why it is not done; if empty, it may be
	Ask  string // why a user is to look at it, whatever rules and mode say
	By   string // who says so
	Stop bool   // the turn ends with this call
}

// heed hears the hooks before the call is judged. It returns why one wants a user to look at it.
func (x *execution) heed(ctx context.Context, mayChange bool) (ask string, err error) {
	if x.runner.Before == nil {
		return "", nil
	}
	look := Look{Call: x.h.Call, Tool: x.h.Tool, Arguments: x.h.Provenance.Parsed, Change: func(arguments json.RawMessage, note string) error {
		if !mayChange {
			return errors.New("a person wrote this call, and it stays as they wrote it")
		}
		if faults := x.rewrite(string(arguments), note, FromHook); len(faults) > 0 {
			return fmt.Errorf("its changed arguments do not fit %s: %s", x.h.Tool, unfit(faults))
		}
		return nil
	}}
	r, panicked := guard(x, func() Ruling { return x.runner.Before(ctx, look) })
	x.stop = x.stop || r.Stop
	if err := cmp.Or(panicked, ctx.Err()); err != nil {
		return "", err
	}
	if r.Deny != "" {
		return "", x.refuse(nil, r.By, r.Deny)
	}
	return r.Ask, nil
}

// after shows hooks what came of a call that ran.
func (x *execution) after(ctx context.Context, o Outcome) Outcome {
	if x.runner.After != nil && ctx.Err() == nil {
		r, _ := guard(x, func() Ruling { // what fails there is no failure of the call
			return x.runner.After(ctx, Look{Call: x.h.Call, Tool: x.h.Tool, Arguments: x.h.Provenance.Parsed, Outcome: &o})
		})
		o.Stop = o.Stop || r.Stop
	}
	return o
}

// told puts what was changed before what a call gave.
func (x *execution) told(output string) string {
	if x.changed == "" {
		return output
	}
	return strings.TrimSuffix("("+x.changed+")\n\n"+output, "\n\n")
}
