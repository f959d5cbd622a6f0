package redact

import (
	"adze/internal/text/jsontext"
	"bytes"
	"strings"
)

// sealed reports names whose values must stay unchanged, or are numbers in letters: ids match calls
// with their results, and a changed signature is refused.
func sealed(name string) bool {
	switch name {
	case "id", "call", "call_id", "provider_id", "parent", "digest", "tools_digest",
		"signature", "redacted", "encrypted_content", "thought_signature", "thoughtSignature":
		return true
	}
	return strings.HasSuffix(name, "_sha256")
}

// minBlob is the length from which a text in base64 alone is data, such as an image.
const minBlob = 256

// JSON masks the strings in one JSON value, including member names. All other bytes stay; without a
// secret the result is raw itself.
func (m *Masker) JSON(raw []byte) []byte {
	var out []byte // output up to at, once something was masked
	at, name := 0, ""
	for i := bytes.IndexByte(raw, '"'); i >= 0 && i < len(raw); {
		end := stringEnd(raw, i)
		next := end
		for next < len(raw) && (raw[next] == ' ' || raw[next] == '\t' || raw[next] == '\n' || raw[next] == '\r') {
			next++
		}
		key := next < len(raw) && raw[next] == ':'
		if key || !sealed(name) {
			if text, changed := m.quoted(raw[i:end]); changed {
				out = append(append(out, raw[at:i]...), text...)
				at = end
			}
		}
		if name = ""; key {
			name = string(raw[i+1 : end-1])
		}
		step := bytes.IndexByte(raw[end:], '"')
		if step < 0 {
			break
		}
		if key && bytes.ContainsAny(raw[end:end+step], "[{") {
			name = "" // no name applies inside
		}
		i = end + step
	}
	if at == 0 {
		return raw
	}
	return append(out, raw[at:]...)
}

func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// Value masks a text as JSON does: data stays.
func (m *Masker) Value(s string) string {
	if len(s) >= minBlob && run(s, 0, func(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }) == len(s) {
		return s
	}
	return m.Text(s)
}

func (m *Masker) quoted(raw []byte) (text []byte, changed bool) {
	if len(raw) < minValue+2 {
		return nil, false
	}
	if len(raw) >= long && m.clean(raw[1:len(raw)-1]) {
		return nil, false
	}
	s := string(raw[1 : len(raw)-1])
	if strings.IndexByte(s, '\\') >= 0 {
		read, ok := unquote(raw)
		if !ok {
			return nil, false
		}
		s = read
	}
	hidden := m.Value(s)
	if hidden == s {
		return nil, false
	}
	out, _ := jsontext.Marshal(hidden) // cannot fail for a string
	return out, true
}
