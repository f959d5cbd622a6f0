package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/llm/wire"
)

// content is a string, or Mistral's list of parts: text, and thinking with nested text.
type content []piece

type piece struct {
	text    string
	thought bool
}

// UnmarshalJSON reads either form. Other parts (references, images) are skipped.
func (c *content) UnmarshalJSON(raw []byte) error {
	*c = nil
	if len(raw) == 0 || raw[0] != '[' {
		return c.add(raw, false)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, one := range list {
		if err := c.element(one); err != nil {
			return err
		}
	}
	return nil
}

// element reads one part: an object, or a bare string.
func (c *content) element(raw json.RawMessage) error {
	if len(raw) > 0 && raw[0] != '{' {
		return c.add(raw, false)
	}
	var p struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	return c.part(p.Type, p.Text, p.Thinking)
}

func (c *content) part(kind string, text, thinking json.RawMessage) error {
	switch {
	case kind == "text" || kind == "output_text" || kind == "":
		return c.add(text, false)
	case kind != "thinking":
		return nil
	case len(thinking) == 0 || thinking[0] != '[':
		return c.add(thinking, true)
	}
	var inner []struct {
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(thinking, &inner); err != nil {
		return err
	}
	for _, p := range inner {
		if err := c.add(p.Text, true); err != nil {
			return err
		}
	}
	return nil
}

// add reads a string; null counts as empty.
func (c *content) add(raw json.RawMessage, thought bool) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	if text != "" {
		*c = append(*c, piece{text, thought})
	}
	return nil
}

// details assembles OpenRouter's reasoning_details. A stream splits a text or summary into
// consecutive pieces with one type and index; their text is joined, and a later piece's other
// fields (a signature) are added. The order is kept.
type details struct{ all []*detail }

type detail struct {
	kind, index string // as written
	word        string // the growing field, text or summary; empty if there is none
	raw         json.RawMessage
	fields      map[string]json.RawMessage // merged from several pieces
	said        strings.Builder
}

// add merges one delta's details and returns their text.
func (d *details) add(list []json.RawMessage) (string, error) {
	told := ""
	for _, raw := range list {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return "", fmt.Errorf("reasoning details that are malformed: %w", err)
		}
		next := &detail{kind: string(fields["type"]), index: string(fields["index"]), raw: raw}
		switch next.kind {
		case `"reasoning.text"`:
			next.word = "text"
		case `"reasoning.summary"`:
			next.word = "summary"
		}
		words := ""
		if next.word != "" {
			_ = json.Unmarshal(fields[next.word], &words) // null has no text
			told += words
		}
		if last := d.last(); last != nil && next.word != "" && last.kind == next.kind && last.index == next.index {
			last.grow(fields, words)
			continue
		}
		next.said.WriteString(words)
		d.all = append(d.all, next)
	}
	return told, nil
}

func (d *details) last() *detail {
	if len(d.all) == 0 {
		return nil
	}
	return d.all[len(d.all)-1]
}

func (t *detail) grow(fields map[string]json.RawMessage, words string) {
	if t.fields == nil {
		t.fields = map[string]json.RawMessage{}
		_ = json.Unmarshal(t.raw, &t.fields) // already known to be an object
	}
	for key, v := range fields {
		if _, there := t.fields[key]; !there || string(v) != "null" {
			t.fields[key] = v
		}
	}
	t.said.WriteString(words)
}

func (d *details) list() []json.RawMessage {
	var out []json.RawMessage
	for _, t := range d.all {
		if t.fields != nil {
			t.fields[t.word] = wire.JSON(t.said.String())
			t.raw = wire.JSON(t.fields)
		}
		out = append(out, t.raw)
	}
	return out
}
