package replay

import (
	"regexp"
	"sync"
)

// secretShapes are keys that can be told by their look. The list is short on purpose: each is a published
// prefix of a service, or a PEM block.
var secretShapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`sk-[A-Za-z0-9_-]{16,}` + // OpenAI, Anthropic, OpenRouter
		`|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}` +
		`|glpat-[A-Za-z0-9_-]{18,}` +
		`|xox[abprs]-[A-Za-z0-9-]{10,}` +
		`|AKIA[0-9A-Z]{16}` +
		`|AIza[0-9A-Za-z_-]{35}` +
		`|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}` + // JSON web tokens
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`)
})

// mask replaces what looks like a secret. Masking what is masked changes nothing.
func mask(s string) string { return secretShapes().ReplaceAllString(s, "[masked]") }

// times are durations as tools print them.
var times = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|m|min)\b`) })

// ids are names of sessions, of which no two are the same.
var ids = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{8}t\d{6}-[0-9a-f]{6}\b`) })

// comparable is a text without what differs between two runs of the same thing.
func comparable(s string) string {
	return times().ReplaceAllString(ids().ReplaceAllString(mask(s), "SESSION"), "TIME")
}
