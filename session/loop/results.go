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

// measured finds durations that somebody measured, such as 0.12s or 3 ms, and addresses such as
// 0xc000012a80: tests that fail again in 0.13 s and not in 0.12 s fail as before. Whole seconds are
// none: they are what a thing that one waits for counts ("12s elapsed"), and such a result did
// change.
var measured = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b0[xX][0-9a-fA-F]{6,}|\b\d+(?:\.\d+)? ?(?:[mun]s|µs)\b|\b\d+\.\d+ ?(?:s|secs?|seconds?|m|min)\b`)
})

// callPrint is a call, or a call with its result.
type callPrint [sha256.Size]byte

// printOf tells texts and attachments from others.
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

// mostCanonical is up to which size, in bytes, arguments are decoded to be compared: longer ones
// are compared as they are.
const mostCanonical = 64 << 10

// canonical is JSON with sorted keys and without spaces; what is no JSON stays as it is.
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

// memory is what the results of a turn have said so far.
type memory struct {
	failures map[string]bool    // words of results that failed
	results  map[callPrint]bool // whole results
	calls    map[callPrint]bool // calls, whatever came of them
}

// newsShare: a failure is news when at least one of so many of its words was not in an earlier one.
const newsShare = 8

// cost weighs the result of a call and remembers it. A word or number that stands in the arguments
// says nothing: a failure that repeats the name of its file says what all such failures do. The
// output is without what was measured.
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
		if seen && !changed && (again || !needs(o, tool.Write)) { // a further item may be written elsewhere
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

// words are the runs of letters and digits of a text, in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// needs reports a call of a tool that asked for a permission.
func needs(o tool.Outcome, p tool.Permission) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == p })
}
