// Package masking hides secrets in the entries of a session's log.
//
// The one rule: what an entry says of itself stays true. A hash is of the output that is kept, and
// a signature is of the text that it stands for, or is left out.
//
// Start reading at Entry. Known limits: a part of an answer that was held back is lost when the
// process ends before the next one.
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

// Entry hides the secrets of a line of the log. What is sound without them stays sound: an
// outcome's hash is of the output that is kept, and thinking that was changed loses its seal, which
// its provider would refuse.
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

// Log is what entries go through before they are stored. Of answers that still arrive it keeps the
// part, by session: what a fragment holds back comes with the next one, or with the whole message.
type Log struct {
	Mask func() *redact.Masker // as the configuration says by then

	mu    sync.Mutex
	parts map[session.ID]answerPart
}

// answerPart is the part of a session's answer that arrives.
type answerPart struct {
	message string
	part    int
	changed bool
	text    *redact.Stream
}

// fragment masks a piece of an answer, which may begin or end in the middle of a secret.
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

// encoded writes a value down as the log does; where that fails it is what stands instead.
func encoded(v any, instead []byte) []byte {
	raw, err := jsontext.Marshal(v)
	if err != nil {
		return instead
	}
	return raw
}

// rehashed is an outcome with the hash of its own output.
func rehashed(data []byte) []byte {
	var o tool.Outcome
	if json.Unmarshal(data, &o) != nil || o.Record.OutputHash == "" {
		return data
	}
	sum := sha256.Sum256([]byte(o.Output))
	return bytes.ReplaceAll(data, []byte(`"output_sha256":"`+o.Record.OutputHash+`"`), []byte(`"output_sha256":"`+hex.EncodeToString(sum[:])+`"`))
}

// unsealed is a masked message without the signatures of what was changed: of a thought its own, of
// a text the one in the piece of reasoning behind it.
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
