package session

import (
	"encoding/json"
	"strings"
	"time"
)

// An answer that still arrives is stored in fragments, so that a crash costs a second of it and a long answer is written
// twice in all: in fragments, and whole.

// fragmentsEvery is how often unfinished text is saved.
const fragmentsEvery = time.Second

// Fragment is the data of a fragment entry: what came of one part of a message since its last fragment. The whole message takes
// the place of its fragments; where there is none, they are what is left of it.
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
		have, text, seals := &d.stored[i], p.soFar(), p.Opaque != nil
		if !fresh && len(text) == have.bytes && seals == have.sealed {
			continue
		}
		out = append(out, Fragment{Message: d.message.ID, Part: i, Kind: p.Kind, Text: text[have.bytes:], Opaque: p.Opaque})
		*have = storedPart{len(text), seals}
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
		p.open = &strings.Builder{}
	}
	p.open.WriteString(delta)
}

func (p *Part) close() {
	if p.open != nil {
		p.Text, p.open = p.open.String(), nil
	}
}

// soFar is the text of a part, also of one that still arrives.
func (p *Part) soFar() string {
	if p.open != nil {
		return p.open.String()
	}
	return p.Text
}
