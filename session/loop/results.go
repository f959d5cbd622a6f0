package loop

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"adze/tool"
)

// measured matches measured durations, such as 0.12s or 3 ms, and addresses, such as 0xc000012a80:
// tests that fail again in 0.13 s instead of 0.12 s fail as before. Whole seconds are not matched:
// waiting programs count them ("12s elapsed"), and such a result did change.
var measured = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b0[xX][0-9a-fA-F]{6,}|\b\d+(?:\.\d+)? ?(?:[mun]s|µs)\b|\b\d+\.\d+ ?(?:s|secs?|seconds?|m|min)\b`)
})

// callPrint is the hash of a call, with or without its result.
type callPrint [sha256.Size]byte

func printOf(attachments []tool.Attachment, texts ...string) callPrint {
	var b []byte
	for _, text := range texts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(text))), text...)
	}
	for _, a := range attachments {
		sum := sha256.Sum256(a.Data)
		b = append(b, sum[:]...)
	}
	return sha256.Sum256(b)
}

// mostCanonical is the largest size of arguments, in bytes, to be decoded for comparison; larger
// ones are compared as written.
const mostCanonical = 64 << 10

// canonical returns JSON with sorted keys and without spaces; other text is unchanged.
func canonical(arguments string) string {
	if len(arguments) > mostCanonical {
		return arguments
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return arguments
	}
	out, err := json.Marshal(v)
	if err != nil {
		return arguments
	}
	return string(out)
}

type memory struct {
	failures map[string]bool    // words in failed results
	results  map[callPrint]bool // whole results
	calls    map[callPrint]bool // calls with any result
}

// newsShare: a failure is new if at least one in newsShare words did not occur in earlier ones.
const newsShare = 8

// cost weighs a call's result and remembers it. Words and numbers from the arguments do not count:
// every failure repeats its file's name. o.Output is without measured values.
func (m *memory) cost(call stepCall, arguments string, o tool.Outcome, changed bool) int {
	if m.results == nil {
		*m = memory{map[string]bool{}, map[callPrint]bool{}, map[callPrint]bool{}}
	}
	given := map[string]bool{}
	for _, w := range words(arguments[:min(len(arguments), mostCanonical)]) {
		given[w] = true
	}
	said := slices.DeleteFunc(words(o.Output), func(w string) bool { return given[w] })
	result := printOf(o.Attachments, append([]string{o.Tool, string(o.Status)}, said...)...)
	seen, again := m.results[result], m.calls[call.asked]
	m.results[result], m.calls[call.asked] = true, true
	if o.Status == tool.Completed {
		if seen && !changed && (again || !needs(o, tool.Write)) { // another item may be written elsewhere
			return costSeen
		}
		return 0
	}
	different, news := map[string]bool{}, 0
	for _, w := range said {
		if different[w] || strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		if different[w] = true; !m.failures[w] {
			m.failures[w] = true
			news++
		}
	}
	switch {
	case news > 0 && news*newsShare >= len(different):
		return 0
	case changed, again && !seen:
		return costSeen
	}
	return costFailed
}

// words returns the runs of letters and digits, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// needs reports whether a call asked for a permission.
func needs(o tool.Outcome, p tool.Permission) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == p })
}
