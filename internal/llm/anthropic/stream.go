package anthropic

import (
	"encoding/json"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

type block struct {
	kind  string
	input string // from the start event, used if no delta comes
	grown bool   // by deltas
	seal  opaqueThinking
}

type answer struct {
	wire.Answer

	blocks   map[int]*block
	thoughts int   // closed thinking blocks
	before   []int // per call: thinking blocks closed before it opened
	counts   wire.Counts
	reason   string
	stopped  bool // message_stop
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	done, err := a.Read(&a.stopped, a.event, a.single)
	switch {
	case err != nil:
		return err
	case !a.stopped && (!done || a.reason == ""): // a gateway may end with [DONE], which is of another format
		return a.Client.Ended()
	}
	return a.conclude()
}

// single reads the answer of a gateway that does not stream.
func (a *answer) single(body []byte) error {
	var m struct {
		Type    wire.Word                  `json:"type"`
		Content wire.Maybe[[]contentBlock] `json:"content"`
		Stop    wire.Word                  `json:"stop_reason"`
		Usage   wire.Lenient[usage]        `json:"usage"`
		Error   json.RawMessage            `json:"error"`
	}
	switch err := json.Unmarshal(body, &m); {
	case err != nil:
		return a.Client.Malformed(body, true)
	case wire.IsSet(m.Error):
		return a.Client.Object(m.Error)
	case m.Type != "message" || m.Stop == "":
		return a.Client.Ended()
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
	a.Reply.MarkEnd()
	return nil
}

func (a *answer) event(from wire.Event, last bool) error {
	var e event
	if err := a.Decode(from.Data, last, &e); err != nil {
		return err
	}
	if e.Type == "" && !wire.IsSet(e.Error) {
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
		a.Reply.MarkEnd()
	case "error":
		return a.Client.Object(e.Error)
	case "":
		if wire.IsSet(e.Error) {
			return a.Client.Object(e.Error)
		}
		return a.Client.Malformed(from.Data, last)
	}
	return nil // the API may add events and asks clients to skip them
}

func (a *answer) start(index int, c contentBlock) error {
	if open := a.blocks[index]; open != nil && open.kind == "tool_use" {
		return a.Client.Bad("opened block %d again before it was closed", index)
	}
	b := &block{kind: string(c.Type)}
	a.blocks[index] = b
	a.Reply.Content()
	switch c.Type {
	case "text":
		return a.Chunks.Text(c.Text)
	case "thinking":
		b.seal.Signature = c.Signature
		return a.Chunks.Reasoning(c.Thinking)
	case "redacted_thinking":
		b.seal.Redacted = c.Data
	case "tool_use":
		a.before = append(a.before, a.thoughts)
		input, err := wire.Arguments(c.Input)
		if err != nil {
			return a.Client.Framing(err)
		}
		if s := strings.TrimSpace(input); s != "{}" {
			b.input = s
		}
		if c.Name == "" {
			return a.Client.Bad("sent a call without a name")
		}
		return a.grow(index, wire.Fragment{New: true, ID: string(c.ID), Name: c.Name})
	}
	return nil // blocks of server tools
}

func (a *answer) grow(index int, f wire.Fragment) error {
	f.Index = index
	return a.Grow(f)
}

func (a *answer) delta(index int, d delta) error {
	b := a.blocks[index]
	if b == nil {
		return a.loose(index, d)
	}
	a.Reply.Content()
	switch {
	case d.Type == "text_delta" && (b.kind == "text" || b.kind == "thinking"):
		return a.Chunks.Text(d.Text)
	case d.Type == "thinking_delta" && (b.kind == "thinking" || b.kind == "text"):
		return a.Chunks.Reasoning(d.Thinking)
	case d.Type == "signature_delta" && b.kind == "thinking":
		b.seal.Signature += d.Signature
	case d.Type == "input_json_delta" && b.kind == "tool_use":
		b.grown = b.grown || d.JSON != ""
		return a.grow(index, wire.Fragment{Arguments: d.JSON})
	case b.kind == "tool_use" && d.says(), d.Type == "input_json_delta" && b.kind == "text":
		return a.Client.Bad("sent a %s in a block of kind %s", d.Type, b.kind)
	}
	return nil // citations, and blocks of server tools
}

func (d delta) says() bool { return d.Text+d.JSON+d.Thinking != "" }

// loose accepts text or thinking for a block that is not open.
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
	return a.Client.Bad("sent a piece of block %d, which is not open", index)
}

func (a *answer) stop(index int) error {
	b := a.blocks[index]
	if b == nil {
		return nil // a server that closes a block it never opened; harmless
	}
	delete(a.blocks, index)
	switch {
	case b.kind == "tool_use" && !b.grown && b.input != "":
		return a.grow(index, wire.Fragment{Arguments: b.input})
	case b.seal != opaqueThinking{}:
		a.thoughts++
		return a.Chunks.Send(session.Reasoning{Opaque: wire.JSON(b.seal)})
	}
	return nil
}

// conclude maps the stop reason and releases the calls; calls take precedence over the reason.
func (a *answer) conclude() error {
	if finished, err := a.Ending(a.reason, ""); !finished {
		return err
	}
	for index, b := range a.blocks {
		if b.kind == "tool_use" {
			return a.Client.Bad("did not close block %d, a call", index)
		}
	}
	return a.Conclude(func(i int) json.RawMessage {
		if a.before[i] < a.thoughts {
			return wire.JSON(callPlace{a.before[i]})
		}
		return nil
	})
}

// count stores an event's counts, which are running totals. Input counts never fall to zero later;
// output counts may, because they begin with an estimate.
func (a *answer) count(u usage) {
	written := u.Creation.V.Minutes + u.Creation.V.Hour
	for _, c := range []struct{ from, to *wire.Count }{
		{u.Input, &a.counts.Prompt}, {u.Output, &a.counts.Answer}, {u.CacheRead, &a.counts.Cached},
		{&written, &a.counts.Written}, {u.CacheWrite, &a.counts.Written}, {u.Total, &a.counts.Total},
	} {
		if c.from != nil && (*c.from > 0 || c.to == &a.counts.Answer) {
			*c.to = *c.from
		}
	}
	a.counts.ExcludesCache = true
	a.Counted(a.counts)
}
