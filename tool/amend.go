package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A user may allow a modified call: with another command, or without some hunks. The user's hooks
// may change arguments too. A modified call is parsed, validated and judged like any other, and the
// model is informed.

// A Change is the modified form of a call.
type Change struct {
	// Arguments are all of the arguments, as JSON.
	Arguments string
	// Note informs the model of the change and its reason.
	Note string
}

// Editing is a text argument for the user to rewrite before the call runs.
type Editing struct {
	Name string // the argument's name
	Text string
	// WithText returns the call with another text.
	WithText func(text string) Change
}

// editing returns the user's options to rewrite the call, or nil.
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
	return &Editing{Name: name, Text: text, WithText: func(text string) Change {
		args[name], _ = json.Marshal(text) // a string always encodes
		raw, _ := json.Marshal(args)
		return Change{Arguments: string(raw), Note: fmt.Sprintf("the person changed %s before it ran, to:\n%s", name, text)}
	}}
}

// without returns the call without some hunks of its preview, counted from 1.
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

// offerChange adds the possible changes to a question. A question by the running tool has none.
func (x *execution) offerChange(q *Question) {
	q.Editing = x.editing()
	if x.h.bound.parts() {
		q.WithoutHunks = x.without
	}
}

// amend replaces the call by the user's version and has it judged.
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

// rewrite replaces the call's arguments without repair. If it returns faults, nothing has changed.
// An empty origin means the user wrote them.
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
		h.Provenance.Repair = nil // the model's text is not used
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

// A Look is a hook's view of a call: valid and not yet judged, or with an Outcome, after it ran.
type Look struct {
	Call      CallID
	Tool      string
	Arguments json.RawMessage
	// Change replaces all arguments before the call is judged. An error explains why they do not
	// fit and leaves the call unchanged. The note is for the model.
	Change  func(arguments json.RawMessage, note string) error
	Outcome *Outcome
}

// A Ruling is the hooks' decision about a call. It only narrows: without Deny or Ask the call is
// judged as usual.
type Ruling struct {
	Deny string // reason to deny the call, or ""
	Ask  string // reason to ask the user whatever rules and mode allow, or ""
	Hook string // the hook's name
	Stop bool   // the turn ends with this call
}

// heed runs the hooks before the call is judged. It returns the reason why one wants the user to be
// asked, or "".
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
		return "", x.refuse(nil, r.Hook, r.Deny)
	}
	return r.Ask, nil
}

// after shows hooks the outcome.
func (x *execution) after(ctx context.Context, o Outcome) Outcome {
	if x.runner.After != nil && ctx.Err() == nil {
		r, _ := guard(x, func() Ruling { // a failing hook does not fail the call
			return x.runner.After(ctx, Look{Call: x.h.Call, Tool: x.h.Tool, Arguments: x.h.Provenance.Parsed, Outcome: &o})
		})
		o.Stop = o.Stop || r.Stop
	}
	return o
}

// told puts the note about a change before the output.
func (x *execution) told(output string) string {
	if x.changed == "" {
		return output
	}
	return strings.TrimSuffix("("+x.changed+")\n\n"+output, "\n\n")
}
