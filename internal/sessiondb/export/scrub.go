package export

import (
	"bytes"
	"encoding/json"
	"strings"

	"adze/internal/text/jsontext"
	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
)

// scrubber takes out of a text what must not leave: secrets that the user's masker knows, those
// that the log itself tells of, control characters, and the name of the home folder. What went
// through it stays as it is when it goes through again.
type scrubber struct {
	mask    *redact.Masker
	home    string
	learned []string
	own     *redact.Masker // of what was learned
}

func newScrubber(o Options) *scrubber {
	s := &scrubber{mask: o.Mask, home: strings.TrimRight(o.Home, "/"), own: redact.New()}
	if s.mask == nil {
		s.mask = &redact.Masker{}
	}
	return s
}

// learn takes values that a file told of.
func (s *scrubber) learn(values []string) {
	if len(values) > 0 {
		s.learned = append(s.learned, values...)
		s.own = redact.New(s.learned...)
	}
}

func (s *scrubber) secrets(text string) string { return s.mask.Text(s.own.Text(text)) }

// cleaned masks before control characters go, which may be a part of a secret, and after, when it
// lies bare.
func (s *scrubber) cleaned(text string, clean func(string) safeterm.Text) string {
	return s.tilde(s.secrets(clean(s.secrets(text)).String()))
}

// prose is what a user or a model wrote.
func (s *scrubber) prose(text string) string { return s.cleaned(text, safeterm.Clean) }

// code is what must not hide anything.
func (s *scrubber) code(text string) string { return s.cleaned(text, safeterm.Reveal) }

// name is on one line.
func (s *scrubber) name(text string) string { return s.cleaned(text, safeterm.Name) }

func (s *scrubber) names(list []string) (out []string) {
	for _, text := range list {
		out = append(out, s.name(text))
	}
	return out
}

// tilde writes the home folder as ~, where it is not a part of a longer name.
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

// partOfName reports whether what stands between two texts goes on in one of them.
func partOfName(before, after string) bool {
	letter := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	return before != "" && letter(before[len(before)-1]) || after != "" && letter(after[0])
}

// fields scrubs an object of JSON: its names and texts, all else stays. What is none becomes
// nothing.
func (s *scrubber) fields(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(s.mask.JSON(s.own.JSON(raw))))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || len(object) == 0 {
		return nil
	}
	out, err := jsontext.Marshal(s.value(object))
	if err != nil {
		return nil
	}
	return s.mask.JSON(s.own.JSON(out))
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
