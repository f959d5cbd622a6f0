package replay

import (
	"regexp"
	"strings"
	"sync"

	"adze/internal/text/redact"
)

// masker adds redaction of text in pieces to the shared masker.
type masker struct{ *redact.Masker }

func newMasker(values []string) masker { return masker{redact.New(values...)} }

// pieces redacts secrets in a text that is split into pieces, keeping the pieces: the mask stands
// where a secret began.
func (m masker) pieces(list []*string, whole string) {
	spans := m.Spans(whole)
	if len(spans) == 0 {
		return
	}
	start := 0
	for _, piece := range list {
		text := *piece
		var b strings.Builder
		at := start
		for _, x := range spans {
			if x.End <= start || x.Start >= start+len(text) {
				continue
			}
			if x.Start >= at {
				b.WriteString(text[at-start:x.Start-start] + redact.Mark)
			}
			at = min(x.End, start+len(text))
		}
		b.WriteString(text[at-start:])
		start += len(text)
		*piece = b.String()
	}
}

// times matches durations in tool output.
var times = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|m|min)\b`) })

// ids matches session ids, which are unique.
var ids = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{8}t\d{6}-[0-9a-f]{6}\b`) })

// comparable removes differences between two runs of the same thing.
func (m masker) comparable(s string) string {
	return times().ReplaceAllString(ids().ReplaceAllString(m.Text(s), "SESSION"), "TIME")
}
