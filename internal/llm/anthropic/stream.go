package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// What a stream is made of. One struct holds the fields of all events; type says which count.
type (
	event struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Usage usage `json:"usage"`
		} `json:"message"`
		Block contentBlock    `json:"content_block"`
		Delta delta           `json:"delta"`
		Usage usage           `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	contentBlock struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
	}
	delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		JSON       string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	}
	// usage has pointers because later events repeat only some counts.
	usage struct {
		Input      *int `json:"input_tokens"`
		Output     *int `json:"output_tokens"`
		CacheRead  *int `json:"cache_read_input_tokens"`
		CacheWrite *int `json:"cache_creation_input_tokens"`
	}
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
		if err := a.event(e.Data, events.Unfinished()); err != nil {
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
		Type    string          `json:"type"`
		Content []contentBlock  `json:"content"`
		Stop    string          `json:"stop_reason"`
		Usage   usage           `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(body, &m); {
	case err != nil:
		return a.client.Malformed(body, true)
	case len(m.Error) > 0:
		return a.client.Object(m.Error)
	case m.Type != "message" || m.Stop == "":
		return a.client.Ended()
	}
	a.count(m.Usage)
	for i, b := range m.Content {
		if err := a.start(i, b); err != nil {
			return err
		}
		if err := a.stop(i); err != nil {
			return err
		}
	}
	a.reason, a.stopped = m.Stop, true
	a.reply.Settle()
	return a.conclude()
}

func (a *answer) event(data []byte, last bool) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return a.client.Malformed(data, last)
	}
	switch e.Type {
	case "message_start":
		a.count(e.Message.Usage)
	case "content_block_start":
		return a.start(e.Index, e.Block)
	case "content_block_delta":
		return a.delta(e.Index, e.Delta)
	case "content_block_stop":
		return a.stop(e.Index)
	case "message_delta":
		a.count(e.Usage)
		if e.Delta.StopReason != "" {
			a.reason = e.Delta.StopReason
		}
	case "message_stop":
		a.stopped = true
		a.reply.Settle()
	case "ping":
	case "error":
		return a.client.Object(e.Error)
	case "":
		if len(e.Error) > 0 {
			return a.client.Object(e.Error)
		}
		return a.client.Malformed(data, last)
	}
	return nil // the API may add events; it asks clients to skip them
}

func (a *answer) start(index int, c contentBlock) error {
	if open := a.blocks[index]; open != nil && open.kind == "tool_use" {
		return a.client.Bad("opened block %d again before it was closed", index)
	}
	b := &block{kind: c.Type}
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
		return a.grow(index, wire.Fragment{New: true, ID: c.ID, Name: c.Name})
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
		return a.client.Bad("sent a piece of block %d, which is not open", index)
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
	case b.kind == "tool_use" || d.Type == "input_json_delta" && b.kind == "text":
		return a.client.Bad("sent a %s in a block of kind %s", d.Type, b.kind)
	}
	return nil // citations, and blocks of server tools
}

func (a *answer) stop(index int) error {
	b := a.blocks[index]
	if b == nil {
		return a.client.Bad("closed block %d, which is not open", index)
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
	case "refusal":
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
		from *int
		to   *int
	}{
		{u.Input, &a.done.Usage.Input}, {u.Output, &a.done.Usage.Output},
		{u.CacheRead, &a.done.Usage.CacheRead}, {u.CacheWrite, &a.done.Usage.CacheWrite},
	} {
		if c.from != nil {
			*c.to = max(0, *c.from)
		}
	}
}
