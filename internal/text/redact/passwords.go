package redact

import "strings"

// Passwords masks only passwords in URLs, for commands shown for approval, in which nothing else
// may be hidden. Parts that a shell would expand stay visible, since they can run code.
func Passwords(s string) string {
	var spans []Span
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return masked(s, spans)
		}
		i += at
		at = i + len("://")
		x := password(s, i)
		if x.End > x.Start && !strings.ContainsAny(s[x.Start:x.End], "$(){}|;&*") && s[x.Start:x.End] != Mark {
			spans = append(spans, x)
			at = x.End
		}
	}
}
