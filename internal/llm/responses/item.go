package responses

import (
	"encoding/json"
	"reflect"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
)

type item struct {
	kind      string
	callID    string
	call      int  // its index among the calls, or how many came before it
	before    int  // finished reasoning items before it
	hasDeltas bool // by deltas
	text      strings.Builder
	closed    bool
	ended     bool // by its own end event
}

// streamItem is an item as the server sends it.
type streamItem struct {
	Type      wire.Word       `json:"type"`
	ID        wire.Word       `json:"id"`
	Status    wire.Word       `json:"status"`
	CallID    wire.Word       `json:"call_id"`
	Name      wire.Word       `json:"name"`
	Phase     wire.Word       `json:"phase"`
	Arguments json.RawMessage `json:"arguments"`
	Summary   json.RawMessage `json:"summary"` // []said
	Content   json.RawMessage `json:"content"` // []said
}

type said struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

func (a *answer) receive(raw json.RawMessage) (streamItem, error) {
	var r streamItem
	if json.Unmarshal(raw, &r) != nil || r.Type == "" {
		return r, a.Client.Bad("sent an item that is malformed")
	}
	return r, nil
}

func (a *answer) added(e event) error {
	r, err := a.receive(e.Item)
	if err != nil {
		return err
	}
	_, err = a.open(r, int(e.Index))
	return err
}

// known reports whether items of this kind belong to adze's answer. Others belong to server tools,
// and their numbers and names are ignored.
func known(kind string) bool {
	return kind == "function_call" || kind == "message" || kind == "reasoning"
}

// open makes an item. The id identifies it, because Ollama sends output_index 0 for all; a server
// without ids has only the index.
func (a *answer) open(r streamItem, index int) (*item, error) {
	id := string(r.ID)
	it := &item{kind: string(r.Type), callID: string(r.CallID), call: a.Calls.Len(), before: a.thoughts}
	a.Reply.Content()
	if !known(it.kind) {
		return it, nil
	}
	if old := a.items[id]; id != "" && old != nil && !old.closed {
		return nil, a.Client.Bad("opened the item %q again before it was finished", id)
	}
	a.places[index] = append(a.places[index], it)
	a.kinds[it.kind] = append(a.kinds[it.kind], it)
	if id != "" {
		a.items[id] = it
	}
	if r.Type != "function_call" {
		return it, nil
	}
	return it, a.add(it, wire.Fragment{New: true, ID: it.callID, Name: string(r.Name)})
}

func (a *answer) add(it *item, f wire.Fragment) error {
	f.Index = it.call
	it.text.WriteString(f.Arguments)
	return a.Grow(f)
}

// find returns an event's item, or nil. Some servers renew the id with each event; then the index
// decides, if only one item has it.
func (a *answer) find(e event) *item {
	if it := a.items[string(e.ItemID)]; it != nil && e.ItemID != "" {
		return it
	}
	if there := a.places[int(e.Index)]; len(there) == 1 {
		return there[0]
	}
	return nil
}

func (a *answer) grow(e event) error {
	it := a.find(e)
	var text string
	switch {
	case it == nil || it.kind != "function_call" || it.closed:
		return a.Client.Bad("sent arguments for the item %q, which is no open call", e.ItemID)
	case json.Unmarshal(e.Delta, &text) != nil:
		return a.Client.Bad("sent arguments that are no text")
	}
	a.Reply.Content()
	it.hasDeltas = it.hasDeltas || text != ""
	return a.add(it, wire.Fragment{Arguments: text})
}

// whole handles the arguments at the end of a call.
func (a *answer) whole(e event) error {
	it := a.find(e)
	if it == nil || it.kind != "function_call" {
		return a.Client.Bad("finished arguments for the item %q, which is no open call", e.ItemID)
	}
	return a.close(it, e.Arguments)
}

// close ends a call. Its pieces must equal the final arguments: a lost piece could leave a shorter
// but valid command.
func (a *answer) close(it *item, raw json.RawMessage) error {
	text, err := wire.Arguments(raw)
	switch {
	case err != nil:
		return a.Client.Framing(err)
	case text == "" || text == it.text.String(): // some servers omit them here
	case it.hasDeltas || it.closed:
		if !sameJSON(text, it.text.String()) {
			return a.Client.Bad("sent pieces of arguments that differ from the whole")
		}
	default:
		err = a.add(it, wire.Fragment{Arguments: text})
	}
	it.closed = true
	return err
}

// sameJSON reports whether two texts are equal JSON except for spacing.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// finished handles a whole item, which may never have been opened.
func (a *answer) finished(e event) error {
	r, err := a.receive(e.Item)
	if err != nil {
		return err
	}
	return a.finish(a.pending(r, e.Index), r, e)
}

// finish ends an item, or a new one if it is nil.
func (a *answer) finish(it *item, r streamItem, e event) (err error) {
	if it == nil {
		if it, err = a.open(r, int(e.Index)); err != nil {
			return err
		}
	}
	it.ended = true
	if r.Status == "incomplete" {
		return nil // the response will be incomplete, too
	}
	switch r.Type {
	case "function_call":
		return a.close(it, r.Arguments)
	case "reasoning":
		return a.seal(it, r, e.Item)
	case "message":
		return a.message(it, r)
	}
	it.closed = true
	return nil
}

// pending returns the open item that a finished one completes, or nil. An ended item is not reused
// unless its id matches. One with an id of its own is known by its call's id first.
func (a *answer) pending(r streamItem, index wire.Number) *item {
	for _, it := range a.kinds[string(r.Type)] {
		if a.items[string(r.ID)] == nil && it.callID != "" && it.callID == string(r.CallID) && !it.ended {
			return it
		}
	}
	it := a.find(event{ItemID: r.ID, Index: index})
	if it == nil || it.ended && (r.ID == "" || a.items[string(r.ID)] != it) || it.kind != string(r.Type) || it.callID != "" && r.CallID != "" && it.callID != string(r.CallID) {
		return nil
	}
	return it
}

// seal stores a reasoning item unchanged; its text is used if no delta had any.
func (a *answer) seal(it *item, r streamItem, raw json.RawMessage) error {
	if it.closed {
		return nil
	}
	it.closed = true
	a.thoughts++
	for _, c := range a.kinds["function_call"][it.call:] {
		c.before++ // it was opened after the item
	}
	text := ""
	if !it.hasDeltas && !a.came("reasoning") {
		text = join(r.Summary)
		if text == "" {
			text = join(r.Content)
		}
	}
	a.Reply.Content()
	return a.Chunks.Send(session.Reasoning{Delta: text, Opaque: raw})
}

// came reports whether an item's content already came in pieces that belong to no earlier item.
func (a *answer) came(kind string) bool {
	came := a.loose[kind]
	delete(a.loose, kind)
	return came
}

// message handles the end of a message, whose text may have come without deltas.
func (a *answer) message(it *item, r streamItem) error {
	if it.closed {
		return nil
	}
	it.closed = true
	var list []said
	if !it.hasDeltas && !a.came("message") {
		_ = json.Unmarshal(r.Content, &list) // other shapes have no text
	}
	for _, s := range list {
		a.refused = a.refused || s.Refusal != ""
		a.textSent = a.textSent || s.Text+s.Refusal != ""
		if err := a.Chunks.Text(s.Text + s.Refusal); err != nil {
			return err
		}
	}
	if r.Phase == "" {
		return nil
	}
	return a.Chunks.Send(session.Reasoning{Opaque: wire.JSON(map[string]string{"phase": string(r.Phase)})})
}

// join returns the text of a reasoning item's parts.
func join(raw json.RawMessage) string {
	var list []said
	_ = json.Unmarshal(raw, &list) // other shapes have no text
	text := ""
	for _, s := range list {
		if text != "" {
			text += "\n\n"
		}
		text += s.Text
	}
	return text
}
