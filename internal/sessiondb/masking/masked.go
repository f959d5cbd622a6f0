// Package masking redacts secrets in the entries of a session's log.
//
// The one rule: an entry stays consistent. A hash is that of the stored output, and a signature
// matches its text or is removed.
//
// Start reading at Entry. Known limits: a part of an answer that is held back is lost if the
// process ends before the next part.
package masking

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"

	"adze/internal/text/jsontext"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// Entry redacts an entry's secrets. An outcome's hash is updated to the stored output, and changed
// thinking loses its signature, which its provider would reject.
func (l *Log) Entry(id session.ID, e session.Entry) session.Entry {
	if e.Type == session.FragmentEntry {
		return l.fragment(id, e)
	}
	data := l.Mask().JSON(e.Data)
	if bytes.Equal(data, e.Data) {
		return e
	}
	switch e.Type {
	case session.OutcomeEntry:
		data = rehashed(data)
	case session.MessageEntry, session.PartialEntry:
		data = unsealed(e.Data, data)
	}
	e.Data = data
	return e
}

// A Log redacts entries before they are stored. For incomplete answers it holds back a part, by
// session, which is stored with the next fragment or the full message.
type Log struct {
	Mask func() *redact.Masker // by the present configuration

	mu    sync.Mutex
	parts map[session.ID]answerPart
}

// answerPart is the held-back part of a session's incomplete answer.
type answerPart struct {
	message string
	part    int
	changed bool
	text    *redact.Stream
}

// fragment redacts a piece of an answer, which may start or end within a secret.
func (l *Log) fragment(id session.ID, e session.Entry) session.Entry {
	var f session.Fragment
	if json.Unmarshal(e.Data, &f) != nil {
		return e
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.parts[id]
	if now.text == nil || now.message != f.Message || now.part != f.Part {
		now = answerPart{message: f.Message, part: f.Part, text: l.Mask().Stream()}
	}
	f.Text = now.text.Write(f.Text)
	if f.Opaque != nil {
		f.Text += now.text.End()
		f.Opaque = l.Mask().JSON(f.Opaque)
	}
	now.changed = now.changed || strings.Contains(f.Text, redact.Mark)
	if now.changed && signed(f.Opaque) {
		f.Opaque = nil
	}
	if l.parts == nil {
		l.parts = map[session.ID]answerPart{}
	}
	l.parts[id] = now
	e.Data = encoded(f, e.Data)
	return e
}

// encoded encodes a value as the log does, or returns instead on failure.
func encoded(v any, instead []byte) []byte {
	raw, err := jsontext.Marshal(v)
	if err != nil {
		return instead
	}
	return raw
}

// rehashed updates an outcome's hash to its own output.
func rehashed(data []byte) []byte {
	var o tool.Outcome
	if json.Unmarshal(data, &o) != nil || o.Record.OutputHash == "" {
		return data
	}
	sum := sha256.Sum256([]byte(o.Output))
	return bytes.ReplaceAll(data, []byte(`"output_sha256":"`+o.Record.OutputHash+`"`), []byte(`"output_sha256":"`+hex.EncodeToString(sum[:])+`"`))
}

// unsealed removes the signatures of changed texts from a masked message: a thought's own, a text's
// in the reasoning after it.
func unsealed(before, masked []byte) []byte {
	var was, is session.Message
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(masked, &is) != nil || len(was.Parts) != len(is.Parts) {
		return masked
	}
	changed, dropped := false, false
	for i := range is.Parts {
		p := &is.Parts[i]
		changed = was.Parts[i].Text != p.Text || changed && p.Text == ""
		if changed && p.Kind == session.ReasoningPart && signed(p.Opaque) {
			p.Opaque, dropped = nil, true
		}
	}
	if !dropped {
		return masked
	}
	return encoded(is, masked)
}

func signed(opaque json.RawMessage) bool {
	var s struct{ Signature string }
	return json.Unmarshal(opaque, &s) == nil && s.Signature != ""
}
