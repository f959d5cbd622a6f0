package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"adze/session"
	"adze/tool"
)

// maskEntry hides the secrets of a line of the log. What is sound without them stays sound: an outcome's hash is of the
// output that is kept, and thinking that was changed loses its seal, which its provider would refuse.
func (a *app) maskEntry(e session.Entry) session.Entry {
	data := a.mask().JSON(e.Data)
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

// rehashed is an outcome with the hash of its own output.
func rehashed(data []byte) []byte {
	var o tool.Outcome
	if json.Unmarshal(data, &o) != nil || o.Record.OutputHash == "" {
		return data
	}
	sum := sha256.Sum256([]byte(o.Output))
	return bytes.ReplaceAll(data, []byte(`"output_sha256":"`+o.Record.OutputHash+`"`), []byte(`"output_sha256":"`+hex.EncodeToString(sum[:])+`"`))
}

// unsealed is a masked message without the signatures of what was changed: of a thought its own, of a text the one in
// the piece of reasoning behind it.
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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as the log is written
	if enc.Encode(is) != nil {
		return masked
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func signed(opaque json.RawMessage) bool {
	var s struct{ Signature string }
	return json.Unmarshal(opaque, &s) == nil && s.Signature != ""
}
