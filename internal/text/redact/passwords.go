package redact

import "strings"

// Passwords masks only the passwords in addresses: for what a user is asked about, of which nothing
// else may be hidden. What a shell would expand is shown, for it does more than it says.
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
