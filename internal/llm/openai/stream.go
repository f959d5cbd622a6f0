package openai

import (
	"cmp"

	"adze/internal/llm/wire"
	"adze/session"
)

type answer struct {
	wire.Answer

	finish  string
	counted bool // counts came without a choice, as at the end, and nothing after them
	choices bool // a choice was seen
	told    bool // some content was sent
	calling form // of the first call
	refused bool
	chunk   bool // a thought within the content is open
	details details
	field   string // the thinking's field
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	single := false
	done, err := a.Read(new(bool), func(e wire.Event, last bool) error { return a.event(e.Data, last) }, func(body []byte) error {
		single = true
		return a.event(body, true)
	})
	switch {
	case err != nil:
		return err
	case a.finish == "" && (!done || single) && !a.counted:
		return a.Client.Ended()
	case !a.choices:
		return a.Client.Bad("sent an answer without choices")
	}
	return a.conclude()
}

func (a *answer) event(data []byte, last bool) error {
	c, ok := usual(data)
	if !ok {
		c = chunk{}
		if err := a.Decode(data, last, &c); err != nil {
			return err
		}
	}
	switch {
	case wire.IsSet(c.Error):
		return a.Client.Object(c.Error)
	case c.Message != "" && len(c.Choices.V) == 0:
		return a.Client.Object(wire.JSON(c.Message))
	case c.Base.V.Code != 0:
		return a.Client.Object(wire.JSON(map[string]any{"message": c.Base.V.Message, "code": c.Base.V.Code}))
	}
	if wire.IsSet(c.Groq.V.Error) {
		return a.Client.Object(c.Groq.V.Error)
	}
	a.count(c.Groq.V.Usage)
	if a.count(c.Usage) {
		a.counted = len(c.Choices.V) == 0 && a.choices && a.Done.Usage.Output > 0
	}
	for _, choice := range c.Choices.V {
		if choice.Index != 0 {
			continue
		}
		if err := a.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

// count stores counts; zeros at the end of a stream do not replace earlier ones.
func (a *answer) count(u wire.Lenient[usage]) (given bool) {
	if counts := u.V.counts(); u.Present && counts != (wire.Counts{}) {
		a.Counted(counts)
	}
	return u.Present
}

func (a *answer) choice(c choice) error {
	a.choices = true
	a.count(c.Usage)
	d := c.Delta
	if d == nil && !a.told {
		d = c.Message // content that came in pieces is not repeated from a full message
	}
	if d != nil {
		if err := a.delta(d.V); err != nil {
			return err
		}
	}
	switch {
	case wire.IsSet(c.Error):
		return a.Client.Object(c.Error)
	case c.Finish != "" && wire.IsParseFailure(string(c.Native)):
		c.Finish = c.Native
	}
	if c.Finish != "" {
		a.finish = string(c.Finish)
		a.Reply.MarkEnd()
	}
	return nil
}

func (a *answer) delta(d delta) error {
	thought, field := d.thought()
	if field == "reasoning_content" || a.field == "" {
		a.field = field
	}
	told, err := a.details.add(d.Details.V)
	if err != nil {
		return a.Client.Framing(err)
	}
	if thought == "" {
		thought = told
	}
	a.told = a.told || d.says()
	if d.says() || thought != "" || len(d.Details.V) > 0 {
		a.Reply.Content()
		a.finish, a.counted = "", false // a reason followed by more was not the end
	}
	if err := a.Chunks.Reasoning(thought); err != nil {
		return err
	}
	for _, p := range d.Content {
		if err := a.piece(p); err != nil {
			return err
		}
	}
	a.refused = a.refused || d.Refusal != ""
	if err := a.Chunks.Text(string(d.Refusal)); err != nil {
		return err
	}
	return a.calls(d)
}

// form is a way to write calls; a server that uses both writes each call twice.
type form int

const (
	listed form = iota + 1 // tool_calls
	single                 // function_call
)

func (a *answer) calls(d delta) error {
	list, has := d.Calls.V, listed
	if len(list) == 0 && d.Called.V.given() {
		list, has = []fragment{{Index: new(wire.Number), Function: d.Called}}, single
	}
	if len(list) > 0 {
		a.calling = cmp.Or(a.calling, has)
	}
	for i, f := range list {
		if has != a.calling {
			return nil
		}
		if err := a.fragment(f, i); err != nil {
			return err
		}
	}
	return nil
}

// piece passes on a piece of the content. Text closes a preceding thought.
func (a *answer) piece(p piece) error {
	if p.thought {
		a.chunk = true
		return a.Chunks.Reasoning(p.text)
	}
	if err := a.closeThought(); err != nil {
		return err
	}
	return a.Chunks.Text(p.text)
}

func (a *answer) closeThought() error {
	if !a.chunk {
		return nil
	}
	a.chunk = false
	return a.Chunks.Send(session.Reasoning{Opaque: wire.JSON(opaqueThinking{Chunk: true})})
}

// seal closes the thinking with the data to send back with it.
func (a *answer) seal() error {
	if err := a.closeThought(); err != nil {
		return err
	}
	list := a.details.list()
	k := opaqueThinking{Details: list}
	if a.field == plainField {
		k.Field = a.field
	}
	if len(list) == 0 && k.Field == "" {
		return nil
	}
	return a.Chunks.Send(session.Reasoning{Opaque: wire.JSON(k)})
}

func (a *answer) fragment(f fragment, position int) error {
	called := f.Function.V
	if !called.given() {
		called = f.called
	}
	arguments, err := wire.Arguments(called.Arguments)
	if err != nil {
		return a.Client.Framing(err)
	}
	index := -1
	if f.Index != nil {
		index = int(*f.Index)
	}
	return a.Grow(wire.Fragment{
		ID: string(f.ID), Index: index, Position: position, Name: called.Name, Arguments: arguments, Opaque: f.Extra,
	})
}

// conclude maps the reason and releases the calls; calls take precedence over the reason.
func (a *answer) conclude() error {
	if err := a.seal(); err != nil {
		return err
	}
	finished, err := a.Ending(a.finish, "")
	switch {
	case a.refused && a.Done.Stop != session.StopLength:
		return a.Client.Refused("the model declined")
	case err != nil || !finished:
		return err
	}
	return a.Conclude(nil)
}
