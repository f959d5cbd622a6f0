package wire

import (
	"adze/session"
	"adze/tool"
)

// past is what a Cache knows of the conversation that it was asked last. A request repeats all of
// the one before, so what is known of every message is known without another look at it. Another
// conversation takes its place.
type past struct {
	strict session.Grown // each call has its outcome, as History wants it

	variant string
	encoded session.Grown
	pieces  [][]byte

	named session.Grown
	ids   map[tool.CallID]bool
}

// History is the function of that name, asked of a conversation as it grows.
func (c *Cache) History(messages []session.Message) []session.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.past.strict.Past(messages); !strict(messages[known:]) {
		return ordered(messages)
	}
	c.past.strict.Saw(messages)
	return messages
}

// Messages returns the bytes that encode makes of each message, all under one variant. They are
// kept, and must not be changed.
func (c *Cache) Messages(variant string, messages []session.Message, encode func(i int) []byte) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.past
	known := 0
	if variant == p.variant {
		known = p.encoded.Past(messages)
	}
	pieces := p.pieces[:known]
	if known < len(p.pieces) {
		pieces = append([][]byte(nil), pieces...) // another request may still be sent with the rest
	}
	for i := known; i < len(messages); i++ {
		pieces = append(pieces, c.message(variant, messages[i], func(session.Message) []byte { return encode(i) }))
	}
	p.variant, p.pieces = variant, pieces
	p.encoded.Saw(messages)
	return pieces[:len(pieces):len(pieces)]
}

// named reports whether a conversation has a call with an id.
func (c *Cache) named(messages []session.Message, id tool.CallID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.past
	from := p.named.Since(messages)
	if from == 0 {
		p.ids = map[tool.CallID]bool{}
	}
	eachID(messages[from:], func(id tool.CallID) { p.ids[id] = true })
	return p.ids[id]
}

// eachID goes through the ids of all calls.
func eachID(messages []session.Message, yield func(tool.CallID)) {
	for i := range messages {
		for n := range messages[i].Parts {
			if p := &messages[i].Parts[n]; p.Kind == session.CallPart && p.Call != nil {
				yield(p.Call.ID)
			}
		}
	}
}
