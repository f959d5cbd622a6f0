package replay

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

const masked = "[masked]"

// secretShapes are keys that can be told by their look. The list is short on purpose: each is a published
// prefix of a service, or a PEM block.
var secretShapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`sk-[A-Za-z0-9_-]{16,}` + // OpenAI, Anthropic, OpenRouter
		`|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|csk-[A-Za-z0-9]{20,}` +
		`|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}` +
		`|glpat-[A-Za-z0-9_-]{18,}` +
		`|xox[abprs]-[A-Za-z0-9-]{10,}` +
		`|A[KS]IA[0-9A-Z]{16}` +
		`|AIza[0-9A-Za-z_-]{35}` +
		`|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}` + // JSON web tokens
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----`)
})

// secretPlaces are where a key stands whatever it looks like: in an address, and in a header. The last group
// is the key.
var secretPlaces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[?&](?:key|api[_-]?key|access[_-]?token|auth[_-]?token|token|signature|sig)=([^&\s"'<>\\]{6,})` +
		`|://[^/\s:@"']+:([^/\s@"']{4,})@` +
		`|\b(?:authorization|proxy-authorization)["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([^\s"'\\,;]{6,})` +
		`|\b(?:x-api-key|api-key|x-goog-api-key)["']?\s*[:=]\s*["']?([^\s"'\\,;]{6,})`)
})

// masker replaces what is known to be a secret, and what looks like one.
type masker struct{ values []string }

// minValue is the shortest secret that is replaced by its value; a shorter one would hit common words.
const minValue = 6

func newMasker(values []string) masker {
	var m masker
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= minValue && v != masked {
			m.values = append(m.values, v)
		}
	}
	// The longest first: one may be the beginning of another.
	slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) })
	return m
}

// spans are the secrets in a text, in order, without overlaps.
func (m masker) spans(s string) [][2]int {
	var all [][2]int
	for _, v := range m.values {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			all = append(all, [2]int{at + i, at + i + len(v)})
			at += i + len(v)
		}
	}
	for _, x := range secretShapes().FindAllStringIndex(s, -1) {
		all = append(all, [2]int{x[0], x[1]})
	}
	for _, x := range secretPlaces().FindAllStringSubmatchIndex(s, -1) {
		for g := 2; g+1 < len(x); g += 2 {
			if x[g] >= 0 {
				all = append(all, [2]int{x[g], x[g+1]})
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, x := range all {
		if n := len(out); n > 0 && x[0] < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], x[1])
			continue
		}
		out = append(out, x)
	}
	return out
}

// mask replaces the secrets of a text. Masking what is masked changes nothing.
func (m masker) mask(s string) string { return m.pieces([]*string{&s}, s) }

// pieces replaces secrets in a text that lies in several pieces, each of which keeps its place: the mark
// stands where a secret began. It returns the whole.
func (m masker) pieces(list []*string, whole string) string {
	spans := m.spans(whole)
	if len(spans) == 0 {
		return whole
	}
	start := 0
	var all strings.Builder
	for _, piece := range list {
		text := *piece
		var b strings.Builder
		at := start
		for _, x := range spans {
			if x[1] <= start || x[0] >= start+len(text) {
				continue
			}
			if x[0] >= at {
				b.WriteString(text[at-start:x[0]-start] + markOf(whole[x[0]:x[1]]))
			}
			at = min(x[1], start+len(text))
		}
		b.WriteString(text[at-start:])
		start += len(text)
		*piece = b.String()
		all.WriteString(b.String())
	}
	return all.String()
}

// markOf leaves a mark as it is.
func markOf(secret string) string {
	if strings.Contains(secret, masked) {
		return secret
	}
	return masked
}

// times are durations as tools print them.
var times = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|m|min)\b`) })

// ids are names of sessions, of which no two are the same.
var ids = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{8}t\d{6}-[0-9a-f]{6}\b`) })

// comparable is a text without what differs between two runs of the same thing.
func (m masker) comparable(s string) string {
	return times().ReplaceAllString(ids().ReplaceAllString(m.mask(s), "SESSION"), "TIME")
}
