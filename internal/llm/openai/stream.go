package openai

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// answer reads one stream.
type answer struct {
	client *wire.Client
	reply  *wire.Reply
	out    *wire.Out
	calls  wire.Calls
	done   session.Done

	finish  string
	ended   bool // [DONE]
	counted bool // the counts came alone, as they do at the end, and nothing after them
	choices bool // there was one
	refused bool
	chunk   bool // a thought that came among the content is not closed
	details details
	field   string // in which the thinking came
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	if err := a.events(); err != nil {
		return err
	}
	if a.finish == "" && !a.ended && !a.counted {
		return a.client.Ended()
	}
	if !a.choices {
		return a.client.Bad("sent an answer without choices")
	}
	return a.conclude()
}

func (a *answer) events() error {
	if strings.HasPrefix(a.reply.ContentType(), "application/json") {
		return a.single()
	}
	events := wire.NewEvents(a.reply)
	for !a.ended {
		event, err := events.Next()
		if err == io.EOF {
			return nil
		}
		if a.reply.OnlyTail(err) {
			return nil
		}
		if err != nil {
			return a.client.Framing(err)
		}
		if err := a.event(event.Data, events.Unfinished()); err != nil {
			return err
		}
	}
	return nil
}

// single reads the answer of a server that does not stream.
func (a *answer) single() error {
	body, err := io.ReadAll(io.LimitReader(a.reply, wire.MaxLine))
	if err != nil {
		return err
	}
	return a.event(body, true)
}

func (a *answer) event(data []byte, last bool) error {
	if string(data) == "[DONE]" {
		a.ended = true
		a.reply.Settle()
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return a.client.Malformed(data, last)
	}
	switch {
	case wire.Given(c.Error):
		return a.client.Object(c.Error)
	case c.Message != "" && len(c.Choices.V) == 0:
		return a.client.Object(wire.JSON(c.Message))
	case c.Base.V.Code != 0:
		return a.client.Object(wire.JSON(map[string]any{"message": c.Base.V.Message, "code": c.Base.V.Code}))
	}
	if c.Usage.Given {
		a.done.Usage = c.Usage.V.count()
		a.counted = len(c.Choices.V) == 0 && a.choices && a.done.Usage.Output > 0
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

func (a *answer) choice(c choice) error {
	a.choices = true
	if c.Message != nil {
		c.Delta = *c.Message
	}
	if err := a.delta(c.Delta.V); err != nil {
		return err
	}
	if c.Finish != "" {
		a.finish = string(c.Finish)
		a.reply.Settle()
	}
	return nil
}

func (a *answer) delta(d delta) error {
	thought := d.ReasoningContent
	switch {
	case thought != "":
		a.field = "reasoning_content"
	case d.Reasoning != "":
		thought, a.field = d.Reasoning, cmp.Or(a.field, plainField)
	}
	told, err := a.details.add(d.Details.V)
	if err != nil {
		return a.client.Framing(err)
	}
	if thought == "" {
		thought = told
	}
	if len(d.Content) > 0 || thought != "" || len(d.Details.V) > 0 || len(d.Calls.V) > 0 {
		a.reply.Content()
		a.finish, a.counted = "", false // an end that is followed by more was none
	}
	if err := a.out.Reasoning(thought); err != nil {
		return err
	}
	for _, p := range d.Content {
		if err := a.piece(p); err != nil {
			return err
		}
	}
	a.refused = a.refused || d.Refusal != ""
	if err := a.out.Text(d.Refusal); err != nil {
		return err
	}
	for i, f := range d.Calls.V {
		if err := a.fragment(f, i); err != nil {
			return err
		}
	}
	return nil
}

// piece passes on a piece of the content. A thought among it is closed by the text that follows.
func (a *answer) piece(p piece) error {
	if p.thought {
		a.chunk = true
		return a.out.Reasoning(p.text)
	}
	if err := a.closeThought(); err != nil {
		return err
	}
	return a.out.Text(p.text)
}

func (a *answer) closeThought() error {
	if !a.chunk {
		return nil
	}
	a.chunk = false
	return a.out.Send(session.Reasoning{Opaque: wire.JSON(kept{Chunk: true})})
}

// seal closes the thinking with what must go back with it.
func (a *answer) seal() error {
	if err := a.closeThought(); err != nil {
		return err
	}
	list := a.details.list()
	k := kept{Details: list}
	if a.field == plainField {
		k.Field = a.field
	}
	if len(list) == 0 && k.Field == "" {
		return nil
	}
	return a.out.Send(session.Reasoning{Opaque: wire.JSON(k)})
}

func (a *answer) fragment(f fragment, position int) error {
	arguments, err := wire.Arguments(f.Function.V.Arguments)
	if err != nil {
		return a.client.Framing(err)
	}
	index := -1
	if f.Index != nil {
		index = int(*f.Index)
	}
	forming, err := a.calls.Add(wire.Fragment{
		ID: string(f.ID), Index: index, Position: position, Name: f.Function.V.Name, Arguments: arguments, Opaque: f.Extra,
	})
	if err != nil {
		return a.client.Framing(err)
	}
	return a.out.Send(forming)
}

// conclude maps the reason and releases the calls; calls decide, not the reason.
func (a *answer) conclude() error {
	if err := a.seal(); err != nil {
		return err
	}
	switch end := endOf(a.finish); {
	case end == session.StopLength:
		a.done.Stop = end
		return nil
	case a.refused:
		return a.client.Refused("the model declined")
	case end == session.StopRefused:
		return a.client.Refused(a.finish)
	case end == session.StopError:
		return a.client.Object(wire.JSON("the model stopped with " + a.finish))
	case a.calls.Len() == 0:
		a.done.Stop = session.StopEnd
		return nil
	}
	calls, err := a.calls.Release()
	if err != nil {
		return a.client.Framing(err)
	}
	a.done.Stop = session.StopCalls
	return a.out.Release(calls)
}
