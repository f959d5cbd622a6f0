package export

import (
	"bytes"
	"encoding/json"
	"strings"

	"adze/internal/text/jsontext"
	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
)

// scrubber removes from texts: secrets known to the user's masker or learned from the log, control
// characters, and the home folder's name. Scrubbing is idempotent.
type scrubber struct {
	mask          *redact.Masker
	home          string
	learned       []string
	learnedMasker *redact.Masker // of learned secrets
}

func newScrubber(o Options) *scrubber {
	s := &scrubber{mask: o.Mask, home: strings.TrimRight(o.Home, "/"), learnedMasker: redact.New()}
	if s.mask == nil {
		s.mask = &redact.Masker{}
	}
	return s
}

// learn adds secret values from a file.
func (s *scrubber) learn(values []string) {
	if len(values) > 0 {
		s.learned = append(s.learned, values...)
		s.learnedMasker = redact.New(s.learned...)
	}
}

func (s *scrubber) secrets(text string) string { return s.mask.Text(s.learnedMasker.Text(text)) }

// cleaned masks before and after removing control characters, which may be part of a secret or hide
// one.
func (s *scrubber) cleaned(text string, clean func(string) safeterm.Text) string {
	return s.tilde(s.secrets(clean(s.secrets(text)).String()))
}

// prose scrubs text of a user or model.
func (s *scrubber) prose(text string) string { return s.cleaned(text, safeterm.Clean) }

// code scrubs text that must not hide anything.
func (s *scrubber) code(text string) string { return s.cleaned(text, safeterm.Reveal) }

// name scrubs text to one line.
func (s *scrubber) name(text string) string { return s.cleaned(text, safeterm.Name) }

func (s *scrubber) names(list []string) (out []string) {
	for _, text := range list {
		out = append(out, s.name(text))
	}
	return out
}

// tilde writes the home folder as ~ unless it is part of a longer name.
func (s *scrubber) tilde(text string) string {
	if len(s.home) < 2 {
		return text
	}
	var b strings.Builder
	for {
		at := strings.Index(text, s.home)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := at + len(s.home)
		b.WriteString(text[:at])
		if partOfName(text[:at], text[end:]) {
			b.WriteString(s.home)
		} else {
			b.WriteByte('~')
		}
		text = text[end:]
	}
}

// partOfName reports whether a name continues before or after.
func partOfName(before, after string) bool {
	letter := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	return before != "" && letter(before[len(before)-1]) || after != "" && letter(after[0])
}

// fields scrubs the names and strings of a JSON object. It returns nil for other values.
func (s *scrubber) fields(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(s.mask.JSON(s.learnedMasker.JSON(raw))))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || len(object) == 0 {
		return nil
	}
	out, err := jsontext.Marshal(s.value(object))
	if err != nil {
		return nil
	}
	return s.mask.JSON(s.learnedMasker.JSON(out))
}

func (s *scrubber) value(v any) any {
	switch v := v.(type) {
	case string:
		return s.code(v)
	case []any:
		for i := range v {
			v[i] = s.value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[s.name(name)] = s.value(value)
		}
		return out
	}
	return v
}
