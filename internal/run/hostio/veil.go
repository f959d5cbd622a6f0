package hostio

import (
	"context"
	"encoding/json"
	"slices"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Calls are shown to users with passwords in addresses masked. Everything else is shown, and diffs
// are exact.

// MaskQuestion returns a question for display.
func MaskQuestion(q tool.Question) tool.Question {
	q.Needs = slices.Clone(q.Needs)
	for i := range q.Needs {
		q.Needs[i].Target = redact.Passwords(q.Needs[i].Target)
	}
	if q.Editing != nil && redact.Passwords(q.Editing.Text) != q.Editing.Text {
		q.Editing = nil // hidden text cannot be edited
	}
	if q.Repair != nil {
		r := *q.Repair
		r.Before, r.After = redact.Passwords(r.Before), json.RawMessage(redact.Passwords(string(r.After)))
		q.Repair = &r
	}
	if preview := q.Preview; preview != nil {
		q.Preview = func(ctx context.Context) []tool.Block { return VeiledBlocks(preview(ctx)) }
	}
	return q
}

// VeiledBlocks returns blocks for display.
func VeiledBlocks(blocks []tool.Block) []tool.Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		b := &blocks[i]
		if b.Kind == tool.DiffBlock {
			continue
		}
		b.Title, b.Text, b.Items = redact.Passwords(b.Title), redact.Passwords(b.Text), slices.Clone(b.Items)
		for n := range b.Items {
			b.Items[n].Text, b.Items[n].Note = redact.Passwords(b.Items[n].Text), redact.Passwords(b.Items[n].Note)
		}
	}
	return blocks
}

// VeiledEvent returns an event for display.
func VeiledEvent(e session.Event) session.Event {
	switch e := e.(type) {
	case session.ToolQueued:
		e.Event = veiledEvent(e.Event)
		return e
	case session.ToolStart:
		e.Event = veiledEvent(e.Event)
		return e
	case session.ToolUpdate:
		e.Event = veiledEvent(e.Event)
		return e
	case session.ToolAsk:
		e.Event = veiledEvent(e.Event)
		return e
	case session.ToolEnd:
		e.Outcome.Title, e.Outcome.Heading = redact.Passwords(e.Outcome.Title), veiledHeading(e.Outcome.Heading)
		return e
	}
	return e
}

func veiledEvent(e tool.Event) tool.Event {
	e.Title, e.Heading = redact.Passwords(e.Title), veiledHeading(e.Heading)
	if e.Args != nil {
		e.Args = json.RawMessage(redact.Passwords(string(e.Args)))
	}
	e.Needs = slices.Clone(e.Needs)
	for i := range e.Needs {
		e.Needs[i].Target = redact.Passwords(e.Needs[i].Target)
	}
	return e
}

func veiledHeading(h tool.Heading) tool.Heading {
	h.Object, h.Note, h.Result = redact.Passwords(h.Object), redact.Passwords(h.Note), redact.Passwords(h.Result)
	return h
}
