package redact

import "strings"

// Bounds of a private key.
const (
	maxKey  = 32 << 10 // bytes of text
	minBody = 40       // letters in the body; fewer are an example
)

// privateKey finds a PEM or OpenPGP private key, even if cut, indented, quoted, with line numbers
// or with escapes. It ends where its letters end.
func privateKey(s string, i int) (Span, bool) {
	line := strings.Index(s[i+11:min(len(s), i+80)], "-----")
	if line < 0 {
		return Span{}, len(s)-i < 80
	}
	body := i + 11 + line + 5
	if !strings.Contains(s[i:body], "PRIVATE KEY") {
		return Span{}, false
	}
	limit := min(len(s), body+maxKey)
	end := run(s[:limit], body, func(c byte) bool { return padded(c) || c <= ' ' || strings.IndexByte("\\\"'`,:|>#*", c) >= 0 })
	open := end == len(s)
	if next := strings.Index(s[body:end], "-----BEGIN "); next >= 0 {
		end, open = body+next, false
	}
	last := strings.Index(s[body:end], "-----END ")
	if last >= 0 {
		label := body + last + len("-----END ")
		if shut := strings.Index(s[label:min(len(s), label+80)], "-----"); shut >= 0 {
			end, open = label+shut+5, false
		}
	}
	if n := count(s[body:end], alnum); n < minBody && (last < 0 || n == 0 || strings.ContainsAny(s[body:end], "\"'`,+")) {
		return Span{}, open
	}
	return Span{i, end}, open
}
