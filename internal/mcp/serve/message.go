package serve

import (
	"bytes"
	"encoding/json"
	"slices"
)

// head is what has to be known of a message to pass it on.
type head struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result struct {
		Version string `json:"protocolVersion"`
	} `json:"result"`
}

// call reports a request that is to be answered.
func (h head) call() bool { return h.Method != "" && len(h.ID) > 0 && string(h.ID) != "null" }

// answer reports a response.
func (h head) answer() bool { return h.Method == "" && len(h.ID) > 0 }

// cancelled is the method of a client that takes a request back.
const cancelled = "notifications/cancelled"

// heads reads the messages of a text: one, or those of a batch.
func heads(raw []byte) (all []head, batch bool) {
	raw = bytes.TrimSpace(raw)
	if batch = len(raw) > 0 && raw[0] == '['; batch {
		_ = json.Unmarshal(raw, &all) // what cannot be read is refused where it is taken apart
		return all, true
	}
	var one head
	if json.Unmarshal(raw, &one) == nil || one.Method != "" || len(one.ID) > 0 {
		all = []head{one}
	}
	return all, false
}

// refusal is the answer to what is no message that is taken.
func refusal(id json.RawMessage, code int64, why string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}}) // it encodes
	return append(raw, '\n')
}

// idFinder finds the id of a message that is too long to be held. It sees the message piece by
// piece, and keeps nothing but the id.
type idFinder struct {
	depth          int
	quoted, escape bool
	text           []byte // of the last text at the top, as far as it may be the name or the id
	name           []byte // of the member that is read
	value          bool   // the value of a member at the top is read
	id             []byte
	method         bool // the message has one: it is a request
}

// maxID is how long an id may be to be found, in bytes.
const maxID = 256

// see reads a piece.
func (f *idFinder) see(piece []byte) {
	for _, c := range piece {
		f.next(c)
	}
}

func (f *idFinder) next(c byte) {
	top := f.depth == 1
	if f.quoted {
		f.keep(top, c)
		switch {
		case f.escape:
			f.escape = false
		case c == '\\':
			f.escape = true
		case c == '"':
			f.quoted = false
		}
		return
	}
	switch c {
	case '"':
		f.quoted = true
		f.keep(top, c)
	case '{', '[':
		f.depth++
		f.text = f.text[:0]
	case '}', ']':
		if top {
			f.end()
		}
		f.depth--
	case ':':
		if top && !f.value {
			f.name, f.value = append(f.name[:0], f.text...), true
			f.text = f.text[:0]
		}
	case ',':
		if top {
			f.end()
		}
	case ' ', '\t', '\r', '\n':
	default:
		f.keep(top, c)
	}
}

// keep remembers a byte of a text or a number at the top.
func (f *idFinder) keep(top bool, c byte) {
	if top && len(f.text) <= maxID {
		f.text = append(f.text, c)
	}
}

// end is the end of a member at the top.
func (f *idFinder) end() {
	switch {
	case !f.value:
	case string(f.name) == `"method"`:
		f.method = true
	case string(f.name) == `"id"` && len(f.text) <= maxID && json.Valid(f.text):
		f.id = append(f.id[:0], f.text...)
	}
	f.value, f.text = false, f.text[:0]
}

// found is the id of the request that was seen; if empty, there is none.
func (f *idFinder) found() json.RawMessage {
	if !f.method {
		return nil
	}
	return slices.Clone(f.id)
}
