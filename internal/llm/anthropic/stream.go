package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// block is a content block that is still open.
type block struct {
	kind  string
	input string // given with the start, used when no delta comes
	grown bool   // by deltas
	seal  sealed
}

// answer reads one stream.
type answer struct {
	client *wire.Client
	reply  *wire.Reply
	out    *wire.Out
	calls  wire.Calls
	done   session.Done

	blocks   map[int]*block
	thoughts int   // closed thinking blocks
	before   []int // per call: thinking blocks closed before it opened
	reason   string
	stopped  bool // message_stop
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	if strings.HasPrefix(a.reply.ContentType(), "application/json") {
		return a.single()
	}
	events := wire.NewEvents(a.reply)
	for !a.stopped {
		e, err := events.Next()
		if err == io.EOF {
			return a.client.Ended()
		}
		if err != nil {
			return a.client.Framing(err)
		}
		if string(e.Data) == "[DONE]" {
			return a.client.Ended()
		}
		if err := a.event(e, events.Unfinished()); err != nil {
			return err
		}
	}
	return a.conclude()
}

// single reads the answer of a gateway that does not stream.
func (a *answer) single() error {
	body, err := io.ReadAll(io.LimitReader(a.reply, wire.MaxLine))
	if err != nil {
		return err
	}
	var m struct {
		Type    wire.Word                  `json:"type"`
		Content wire.Maybe[[]contentBlock] `json:"content"`
		Stop    wire.Word                  `json:"stop_reason"`
		Usage   wire.Aside[usage]          `json:"usage"`
		Error   json.RawMessage            `json:"error"`
	}
	switch err := json.Unmarshal(body, &m); {
	case err != nil:
		return a.client.Malformed(body, true)
	case wire.Given(m.Error):
		return a.client.Object(m.Error)
	case m.Type != "message" || m.Stop == "":
		return a.client.Ended()
	}
	a.count(m.Usage.V)
	for i, b := range m.Content.V {
		if err := a.start(i, b); err != nil {
			return err
		}
		if err := a.stop(i); err != nil {
			return err
		}
	}
	a.reason, a.stopped = string(m.Stop), true
	a.reply.Settle()
	return a.conclude()
}

func (a *answer) event(from wire.Event, last bool) error {
	var e event
	if err := json.Unmarshal(from.Data, &e); err != nil {
		return a.client.Malformed(from.Data, last)
	}
	if e.Type == "" && !wire.Given(e.Error) {
		e.Type = wire.Word(from.Name)
	}
	switch e.Type {
	case "message_start":
		a.count(e.Message.V.Usage.V)
	case "content_block_start":
		return a.start(int(e.Index), e.Block.V)
	case "content_block_delta":
		return a.delta(int(e.Index), e.Delta.V)
	case "content_block_stop":
		return a.stop(int(e.Index))
	case "message_delta":
		a.count(e.Usage.V)
		if e.Delta.V.StopReason != "" {
			a.reason = string(e.Delta.V.StopReason)
		}
	case "message_stop":
		a.stopped = true
		a.reply.Settle()
	case "error":
		return a.client.Object(e.Error)
	case "":
		if wire.Given(e.Error) {
			return a.client.Object(e.Error)
		}
		return a.client.Malformed(from.Data, last)
	}
	return nil // the API may add events; it asks clients to skip them
}

func (a *answer) start(index int, c contentBlock) error {
	if open := a.blocks[index]; open != nil && open.kind == "tool_use" {
		return a.client.Bad("opened block %d again before it was closed", index)
	}
	b := &block{kind: string(c.Type)}
	a.blocks[index] = b
	a.reply.Content()
	switch c.Type {
	case "text":
		return a.out.Text(c.Text)
	case "thinking":
		b.seal.Signature = c.Signature
		return a.out.Reasoning(c.Thinking)
	case "redacted_thinking":
		b.seal.Redacted = c.Data
	case "tool_use":
		a.before = append(a.before, a.thoughts)
		if s := strings.TrimSpace(string(c.Input)); s != "{}" && s != "null" {
			b.input = s
		}
		if c.Name == "" {
			return a.client.Bad("sent a call without a name")
		}
		return a.grow(index, wire.Fragment{New: true, ID: string(c.ID), Name: c.Name})
	}
	return nil // blocks of server tools
}

// grow adds to a call.
func (a *answer) grow(index int, f wire.Fragment) error {
	f.Index = index
	forming, err := a.calls.Add(f)
	if err != nil {
		return a.client.Framing(err)
	}
	return a.out.Send(forming)
}

func (a *answer) delta(index int, d delta) error {
	b := a.blocks[index]
	if b == nil {
		return a.loose(index, d)
	}
	a.reply.Content()
	switch {
	case d.Type == "text_delta" && b.kind == "text":
		return a.out.Text(d.Text)
	case d.Type == "thinking_delta" && b.kind == "thinking":
		return a.out.Reasoning(d.Thinking)
	case d.Type == "signature_delta" && b.kind == "thinking":
		b.seal.Signature += d.Signature
	case d.Type == "input_json_delta" && b.kind == "tool_use":
		b.grown = b.grown || d.JSON != ""
		return a.grow(index, wire.Fragment{Arguments: d.JSON})
	case b.kind == "tool_use" && d.says(), d.Type == "input_json_delta" && b.kind == "text":
		return a.client.Bad("sent a %s in a block of kind %s", d.Type, b.kind)
	}
	return nil // citations, and blocks of server tools
}

// says reports whether a piece brings something that an answer is made of.
func (d delta) says() bool { return d.Text+d.JSON+d.Thinking != "" }

// loose takes a piece of a block that is not open: where that is text or thinking, it is clear all the same.
func (a *answer) loose(index int, d delta) error {
	switch {
	case !d.says():
		return nil
	case d.Type == "text_delta" || d.Type == "thinking_delta":
		if err := a.start(index, contentBlock{Type: wire.Word(strings.TrimSuffix(string(d.Type), "_delta"))}); err != nil {
			return err
		}
		return a.delta(index, d)
	}
	return a.client.Bad("sent a piece of block %d, which is not open", index)
}

func (a *answer) stop(index int) error {
	b := a.blocks[index]
	if b == nil {
		return nil // a server that closes what it never opened says nothing by it
	}
	delete(a.blocks, index)
	switch {
	case b.kind == "tool_use" && !b.grown && b.input != "":
		return a.grow(index, wire.Fragment{Arguments: b.input})
	case b.seal != sealed{}:
		a.thoughts++
		return a.out.Send(session.Reasoning{Opaque: wire.JSON(b.seal)})
	}
	return nil
}

// conclude maps the reason and releases the calls; calls decide, not the reason.
func (a *answer) conclude() error {
	switch a.reason {
	case "max_tokens", "model_context_window_exceeded":
		a.done.Stop = session.StopLength
		return nil
	}
	if wire.Blocked(a.reason) {
		return a.client.Refused(a.reason)
	}
	if a.calls.Len() == 0 {
		a.done.Stop = session.StopEnd
		return nil
	}
	for index, b := range a.blocks {
		if b.kind == "tool_use" {
			return a.client.Bad("did not close block %d, a call", index)
		}
	}
	calls, err := a.calls.Release()
	if err != nil {
		return a.client.Framing(err)
	}
	for i := range calls {
		if a.before[i] < a.thoughts {
			calls[i].Opaque = wire.JSON(placed{a.before[i]})
		}
	}
	a.done.Stop = session.StopCalls
	return a.out.Release(calls)
}

// count takes the counts that an event has; they are running totals.
func (a *answer) count(u usage) {
	for _, c := range []struct {
		from *wire.Count
		to   *int
	}{
		{u.Input, &a.done.Usage.Input}, {u.Output, &a.done.Usage.Output},
		{u.CacheRead, &a.done.Usage.CacheRead}, {u.CacheWrite, &a.done.Usage.CacheWrite},
	} {
		if c.from != nil {
			*c.to = int(*c.from)
		}
	}
}
