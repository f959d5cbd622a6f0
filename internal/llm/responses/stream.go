package responses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

// One struct holds all stream events' fields; type selects the valid ones. Delta, item and response
// stay raw, because server tools' events have other shapes there.
type (
	event struct {
		Type      wire.Word       `json:"type"`
		ItemID    wire.Word       `json:"item_id"`
		Index     wire.Number     `json:"output_index"`
		Part      wire.Number     `json:"summary_index"`
		Delta     json.RawMessage `json:"delta"`
		Arguments json.RawMessage `json:"arguments"`
		Item      json.RawMessage `json:"item"`
		Response  json.RawMessage `json:"response"`
		Error     json.RawMessage `json:"error"`
		Message   wire.Word       `json:"message"`
		Text      wire.Prose      `json:"text"`
	}
	response struct {
		Status     wire.Word                     `json:"status"`
		Error      json.RawMessage               `json:"error"`
		Output     wire.Maybe[[]json.RawMessage] `json:"output"`
		Usage      wire.Lenient[usage]           `json:"usage"`
		Incomplete wire.Maybe[struct {
			Reason wire.Word `json:"reason"`
		}] `json:"incomplete_details"`
	}
	usage struct {
		Input        wire.Count `json:"input_tokens"`
		Output       wire.Count `json:"output_tokens"`
		Total        wire.Count `json:"total_tokens"`
		InputDetails wire.Lenient[struct {
			Cached  wire.Count `json:"cached_tokens"`
			Written wire.Count `json:"cache_write_tokens"`    // OpenRouter
			Created wire.Count `json:"cache_creation_tokens"` // LiteLLM
		}] `json:"input_tokens_details"`
		OutputDetails wire.Lenient[struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		}] `json:"output_tokens_details"`
	}
)

type answer struct {
	wire.Answer

	items    map[string]*item   // by id
	places   map[int][]*item    // by output_index
	thoughts int                // finished reasoning items
	kinds    map[string][]*item // by kind, in order
	textSent bool               // some text was sent
	loose    map[string]bool    // kinds of items whose pieces belong to no item
	refused  bool
	ended    bool
}

// read decodes the stream to its end and releases the calls.
func (a *answer) read() error {
	switch _, err := a.Read(&a.ended, a.event, a.single); {
	case err != nil:
		return err
	case !a.ended:
		return a.Client.Ended()
	}
	return a.conclude()
}

// single reads the answer of a server that does not stream.
func (a *answer) single(body []byte) error {
	var e event
	if json.Unmarshal(body, &e) == nil && wire.IsSet(e.Error) {
		return a.Client.Object(e.Error)
	}
	return a.terminal(body, "")
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
	case "response.output_item.added":
		return a.added(e)
	case "response.output_item.done":
		return a.finished(e)
	case "response.output_text.delta", "response.refusal.delta":
		a.refused = a.refused || e.Type == "response.refusal.delta"
		return a.said(e, "message")
	case "response.output_text.done":
		return a.spoken(e)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.said(e, "reasoning")
	case "response.reasoning_summary_part.added":
		if e.Part > 0 {
			return a.Chunks.Reasoning("\n\n")
		}
	case "response.function_call_arguments.delta":
		return a.grow(e)
	case "response.function_call_arguments.done":
		return a.whole(e)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return a.terminal(e.Response, strings.TrimPrefix(string(e.Type), "response."))
	case "response.done":
		return a.terminal(e.Response, "completed")
	case "error", "":
		return a.failed(e, from.Data, last)
	}
	return nil // the API may add events, and has many for server tools
}

// failed reads an error event, which is flat at OpenAI and nested elsewhere.
func (a *answer) failed(e event, data []byte, last bool) error {
	switch {
	case wire.IsSet(e.Error):
		return a.Client.Object(e.Error)
	case e.Type == "error":
		return a.Client.Object(data)
	}
	return a.Client.Malformed(data, last)
}

// said passes on a piece of text or thinking.
func (a *answer) said(e event, kind string) error {
	var text string
	if json.Unmarshal(e.Delta, &text) != nil {
		return a.Client.Bad("sent a %s that is no text", e.Type)
	}
	if text == "" {
		return nil
	}
	a.Reply.Content()
	if it := a.find(e); it != nil {
		it.hasDeltas = true
	} else {
		a.loose[kind] = true
	}
	if kind == "reasoning" {
		return a.Chunks.Reasoning(text)
	}
	a.textSent = true
	return a.Chunks.Text(text)
}

// spoken handles the final text of a server that sent no pieces.
func (a *answer) spoken(e event) error {
	if it := a.find(e); e.Text == "" || it != nil && (it.hasDeltas || it.closed) || it == nil && a.textSent {
		return nil
	}
	e.Delta = wire.JSON(e.Text)
	return a.said(e, "message")
}

// terminal reads the final response. A missing status is taken from the event, for gateways that
// omit it.
func (a *answer) terminal(raw json.RawMessage, status string) error {
	var r response
	if !wire.IsSet(raw) || json.Unmarshal(raw, &r) != nil {
		return a.Client.Bad("sent an end of the answer that is malformed")
	}
	r.Status = cmp.Or(r.Status, wire.Word(status))
	u := r.Usage.V
	a.Counted(wire.Counts{
		Prompt: u.Input, Answer: u.Output, Total: u.Total, Thoughts: u.OutputDetails.V.Reasoning,
		Cached: u.InputDetails.V.Cached, Written: max(u.InputDetails.V.Written, u.InputDetails.V.Created),
	})
	if wire.IsSet(r.Error) {
		return a.Client.Object(r.Error)
	}
	switch {
	case r.Status == "completed":
		return a.complete(r)
	case r.Status == "incomplete":
		_, err := a.Ending(cmp.Or(string(r.Incomplete.V.Reason), "length"), "")
		a.ended = true
		a.Reply.MarkEnd()
		return err
	}
	return a.Client.Bad("ended the answer with the status %q", r.Status)
}

// complete takes the items that did not end before. An item without a known id is matched by its
// call's id, or by its position among those of its kind.
func (a *answer) complete(r response) error {
	count := map[string]int{}
	for _, raw := range r.Output.V {
		one, err := a.receive(raw)
		if err != nil {
			return err
		}
		kind := string(one.Type)
		it, n := a.items[string(one.ID)], count[kind]
		if count[kind]++; it == nil || it.kind != kind {
			it = a.alike(one, n)
		}
		if it == nil && a.loose[kind] || it != nil && it.closed {
			continue
		}
		if err := a.finish(it, one, event{Item: raw}); err != nil {
			return err
		}
	}
	a.ended = true
	a.Reply.MarkEnd()
	return nil
}

// alike returns the item of a kind that has the same call's id, or the nth one if one of both has
// no id, or nil.
func (a *answer) alike(one streamItem, n int) *item {
	all := a.kinds[string(one.Type)]
	if i := slices.IndexFunc(all, func(it *item) bool { return it.callID != "" && it.callID == string(one.CallID) }); i >= 0 {
		return all[i]
	}
	if n < len(all) && (all[n].callID == "" || one.CallID == "") {
		return all[n]
	}
	return nil
}

// conclude releases the calls; calls take precedence over the status.
func (a *answer) conclude() error {
	switch {
	case a.Done.Stop == session.StopLength:
		return nil
	case a.refused:
		return a.Client.Refused("the model declined")
	}
	calls := a.kinds["function_call"]
	for _, it := range calls {
		if !it.closed {
			return a.Client.Bad("did not finish the item of a call")
		}
	}
	return a.Conclude(func(i int) json.RawMessage {
		if before := calls[i].before; before < a.thoughts {
			return wire.JSON(callPlace{before})
		}
		return nil
	})
}
