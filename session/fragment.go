package session

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// An answer that still arrives is stored in fragments, so that a crash costs a second of it and a
// long answer is written twice in all: in fragments, and whole.

// Unfinished text is saved every fragmentsEvery, and when fragmentBytes of it came.
const (
	fragmentsEvery = time.Second
	fragmentBytes  = 512 << 10
)

// Fragment is the data of a fragment entry: what came of one part of a message since its last
// fragment. The whole message takes the place of its fragments; where there is none, they are what
// is left of it.
type Fragment struct {
	Message string   `json:"message"`
	Part    int      `json:"part"` // from 0
	Kind    PartKind `json:"kind"`
	Text    string   `json:"text"`
	// Opaque closes the part.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// Provider, Model and Prompt stand in the first fragment of a message, as in Message.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Prompt   string `json:"prompt_sha256,omitempty"`
}

// fragments takes what is not stored yet.
func (d *draft) fragments() (out []Fragment) {
	for i, p := range d.message.Parts {
		fresh := i == len(d.stored)
		if fresh {
			d.stored = append(d.stored, storedPart{})
		}
		have, came, seals := &d.stored[i], p.came(), p.Opaque != nil
		if !fresh && came == have.bytes && seals == have.sealed {
			continue
		}
		out = append(out, Fragment{Message: d.message.ID, Part: i, Kind: p.Kind, Text: p.since(have.bytes), Opaque: p.Opaque})
		*have = storedPart{came, seals}
	}
	return out
}

// storedPart is how much of a part is stored.
type storedPart struct {
	bytes  int
	sealed bool
}

// add puts a fragment to what is there of its message, and returns it.
func (p Fragment) add(m *Message) *Message {
	if m == nil || m.ID != p.Message {
		m = &Message{ID: p.Message, Role: Assistant, Stop: StopAborted, Provider: p.Provider, Model: p.Model, Prompt: p.Prompt}
	}
	for len(m.Parts) <= p.Part {
		m.Parts = append(m.Parts, Part{Kind: p.Kind})
	}
	part := &m.Parts[p.Part]
	part.grow(p.Text)
	part.Opaque = p.Opaque
	return m
}

// grow collects deltas.
func (p *Part) grow(delta string) {
	if p.open == nil {
		p.open = &pile{}
	}
	p.open.add(delta)
}

// close joins what came. The garbage of a long text is collected at once: left to itself the
// collector waits until there is as much of it as there is of anything else.
func (p *Part) close() {
	if p.open == nil {
		return
	}
	long := p.open.bytes >= longText
	if long {
		debug.FreeOSMemory()
	}
	p.Text, p.open = p.open.since(0), nil
	if long {
		debug.FreeOSMemory()
	}
}

// longText is from how many bytes on a text is worth a collection, which takes some milliseconds.
const longText = 4 << 20

// came is how many bytes of a part came, also of one that still arrives.
func (p *Part) came() int {
	if p.open != nil {
		return p.open.bytes
	}
	return len(p.Text)
}

// since is the text of a part from a byte on.
func (p *Part) since(from int) string {
	if p.open != nil {
		return p.open.since(from)
	}
	return p.Text[from:]
}

// pile is a text that grows. Its blocks are joined once: one that is copied whenever it has to be
// larger takes five times its length in all, and at its end twice as much as it holds.
type pile struct {
	blocks [][]byte
	bytes  int
}

// blockBytes is the size of a block; the first one grows up to it.
const blockBytes = 64 << 10

func (t *pile) add(delta string) {
	t.bytes += len(delta)
	last := len(t.blocks) - 1
	switch {
	case last < 0:
		t.blocks = append(t.blocks, []byte(delta))
	case len(t.blocks[last])+len(delta) <= blockBytes:
		if last > 0 && cap(t.blocks[last]) < blockBytes {
			t.blocks[last] = append(make([]byte, 0, blockBytes), t.blocks[last]...)
		}
		t.blocks[last] = append(t.blocks[last], delta...)
	default:
		t.blocks = append(t.blocks, []byte(delta))
	}
}

func (t *pile) since(from int) string {
	var text strings.Builder
	text.Grow(t.bytes - from)
	for _, b := range t.blocks {
		text.Write(b[min(from, len(b)):])
		from = max(0, from-len(b))
	}
	return text.String()
}
