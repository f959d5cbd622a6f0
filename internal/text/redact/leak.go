package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// Leaks reports whether outgoing text contains a known value: plain, in other case, reversed,
// percent-encoded up to three times, or in base64, base32 or hexadecimal, also split into host
// labels. It does not detect values in pieces, encrypted, or encoded twice in other ways.
func (m *Masker) Leaks(text string) bool {
	if m == nil || len(m.plain) == 0 {
		return false
	}
	for range 4 {
		if m.holds(text) {
			return true
		}
		decoded := percentDecoded(text)
		if decoded == text {
			return false
		}
		text = decoded
	}
	return false
}

func (m *Masker) holds(text string) bool {
	if len(m.known.spans(text)) > 0 || len(m.known.spans(backwards(text))) > 0 {
		return true
	}
	lower := strings.ToLower(text)
	joined := strings.NewReplacer(".", "", "-", "", ":", "", " ", "", `\x`, "").Replace(lower)
	return slices.ContainsFunc(m.plain, func(v string) bool {
		raw := []byte(v)
		return len(v) >= minWords && strings.Contains(lower, strings.ToLower(v)) ||
			strings.Contains(joined, hex.EncodeToString(raw)) || inGroups(joined, raw, 5, func(b []byte) string {
			return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
		}) || inGroups(text, raw, 3, base64.RawStdEncoding.EncodeToString) || inGroups(text, raw, 3, base64.RawURLEncoding.EncodeToString)
	})
}

// inGroups reports whether text contains the encoded value at any alignment. The encoding turns
// groups of bytes into letters, so the first and last letters also depend on the surrounding bytes.
func inGroups(text string, value []byte, group int, encode func([]byte) string) bool {
	bits := 8 * group / len(encode(make([]byte, group)))
	for shift := range group {
		letters := encode(append(make([]byte, shift), value...))
		if strings.Contains(text, letters[(shift*8+bits-1)/bits:(shift+len(value))*8/bits]) {
			return true
		}
	}
	return false
}

// percentDecoded decodes %XX and leaves everything else unchanged.
func percentDecoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
