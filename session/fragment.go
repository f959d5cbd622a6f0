package session

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// An arriving answer is stored in fragments: a crash loses one second, and a long answer is written
// only twice, in fragments and whole.

// Unfinished text is saved every fragmentsEvery and every fragmentBytes.
const (
	fragmentsEvery = time.Second
	fragmentBytes  = 512 << 10
)

// Fragment is a fragment entry's data: a message part's text since its last fragment. The complete
// message replaces its fragments; without one, they are all that remains.
type Fragment struct {
	Message string   `json:"message"`
	Part    int      `json:"part"` // from 0
	Kind    PartKind `json:"kind"`
	Text    string   `json:"text"`
	// Opaque closes the part.
	Opaque json.RawMessage `json:"opaque,omitempty"`
	// Provider, Model and Prompt are set in a message's first fragment, as in Message.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Prompt   string `json:"prompt_sha256,omitempty"`
}

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

type storedPart struct {
	bytes  int
	sealed bool
}

// add appends a fragment to its message, which may be nil, and returns the message.
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

func (p *Part) grow(delta string) {
	if p.open == nil {
		p.open = &pile{}
	}
	p.open.add(delta)
}

// close joins the deltas. After a long text it forces a garbage collection, since the collector
// would otherwise wait until the heap doubles.
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

// longText is the size in bytes that is worth a collection, which takes some milliseconds.
const longText = 4 << 20

// came returns a part's length so far in bytes.
func (p *Part) came() int {
	if p.open != nil {
		return p.open.bytes
	}
	return len(p.Text)
}

// since returns a part's text from a byte offset.
func (p *Part) since(from int) string {
	if p.open != nil {
		return p.open.since(from)
	}
	return p.Text[from:]
}

// pile is a growing text, joined from blocks once. Growing a single buffer would allocate five
// times the length in total and hold twice the size at the end.
type pile struct {
	blocks [][]byte
	bytes  int
}

// blockBytes is the block size; the first block grows up to it.
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
