package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"adze/tool"
)

// fingerprints computes prompt hashes. It keeps the last request's message hashes, which the next
// one repeats: hashing again costs a millisecond per megabyte.
type fingerprints struct {
	last []hashedMessage
	// Reused as long as a conversation only grows.
	begun          hasher
	system, digest string
	hashed         ReadMark
}

type hashedMessage struct {
	identity
	sum [sha256.Size]byte
}

// identity distinguishes messages without reading them, since stored messages never change. first
// distinguishes a modified copy under the same id, such as one with cut outputs, from the original.
type identity struct {
	id    string
	first *Part
	parts int
}

// promptHash returns a request's prompt hash: the hexadecimal SHA-256 of the system prompt, the
// digest of the canonical tool definitions and the message hashes, in order. Provider additions
// (ids, cache marks) do not count, so the same question to two providers has one hash. Titles,
// metadata and records, which no model sees, do not count either.
func (f *fingerprints) promptHash(r Request) string {
	from := f.hashed.Advance(r.Messages)
	if from == 0 || f.system != r.System || f.digest != r.ToolsDigest {
		f.begun, f.system, f.digest, from = hasher{sha256.New()}, r.System, r.ToolsDigest, 0
		f.begun.text("adze.prompt/1", r.System, r.ToolsDigest)
	}
	for i := from; i < len(r.Messages); i++ {
		if i >= len(f.last) || !f.last[i].is(&r.Messages[i]) {
			f.last = append(f.last[:min(i, len(f.last))], hashMessage(r.Messages[i]))
		}
		f.begun.Write(f.last[i].sum[:])
	}
	f.last = f.last[:len(r.Messages)]
	return hex.EncodeToString(f.begun.Sum(nil))
}

// kept returns how many messages are unchanged since the last request. Messages elsewhere in
// memory, such as after a resume, are compared by content.
func (f *fingerprints) kept(messages []Message) int {
	for i := min(f.hashed.Examined(messages), len(f.last)); i < len(f.last); i++ {
		k := &f.last[i]
		if i >= len(messages) || !k.is(&messages[i]) && hashMessage(messages[i]).sum != k.sum {
			return i
		}
	}
	return len(f.last)
}

func identityOf(m *Message) identity { return identity{m.ID, firstPart(m), len(m.Parts)} }

func (k identity) is(m *Message) bool { return k == identityOf(m) }

func firstPart(m *Message) *Part {
	if len(m.Parts) == 0 {
		return nil
	}
	return &m.Parts[0]
}

// hasher writes each text after its length, so that texts cannot run together.
type hasher struct{ hash.Hash }

func (h hasher) text(texts ...string) {
	var n [8]byte
	for _, t := range texts {
		binary.BigEndian.PutUint64(n[:], uint64(len(t)))
		h.Write(n[:])
		h.Write([]byte(t))
	}
}

func hashMessage(m Message) hashedMessage {
	h := hasher{sha256.New()}
	h.text(string(m.Role))
	for _, p := range m.Parts {
		h.part(p)
	}
	k := hashedMessage{identity: identityOf(&m)}
	h.Sum(k.sum[:0])
	return k
}

func (h hasher) part(p Part) {
	h.text(string(p.Kind), p.Text, string(p.Opaque))
	if c := p.Call; c != nil {
		h.text(string(c.ID), c.Name, c.Arguments, string(c.Opaque))
	}
	if o := p.Outcome; o != nil {
		h.text(string(o.Call), o.Tool, string(o.Status), o.Output)
		for _, a := range o.Attachments {
			h.attachment(a)
		}
	}
	if p.Attachment != nil {
		h.attachment(*p.Attachment)
	}
}

func (h hasher) attachment(a tool.Attachment) { h.text(a.Name, a.MediaType, string(a.Data)) }
