package loop

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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

// callPrint is a call with its result.
type callPrint [sha256.Size]byte

// printOf tells calls with the same result from others.
func printOf(call tool.RawCall, o tool.Outcome) callPrint {
	h := sha256.New()
	for _, field := range []string{cmp.Or(o.Tool, call.Name), canonical(call.Arguments), string(o.Status), o.Code, measured().ReplaceAllString(o.Output, "\x00")} {
		_, _ = fmt.Fprintf(h, "%d %s", len(field), field)
	}
	for _, a := range o.Attachments {
		_, _ = h.Write(a.Data)
	}
	return callPrint(h.Sum(nil))
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
// says nothing: a failure that repeats the name of its file says what all such failures do.
func (m *memory) cost(call tool.RawCall, o tool.Outcome, changed bool) int {
	if m.results == nil {
		*m = memory{map[string]bool{}, map[callPrint]bool{}, map[callPrint]bool{}}
	}
	given := map[string]bool{}
	for _, w := range words(call.Arguments[:min(len(call.Arguments), mostCanonical)]) {
		given[w] = true
	}
	said := slices.DeleteFunc(words(measured().ReplaceAllString(o.Output, " ")), func(w string) bool { return given[w] })
	o.Output = strings.Join(said, " ")
	result, same := printOf(tool.RawCall{Name: call.Name}, o), printOf(call, tool.Outcome{})
	seen, again := m.results[result], m.calls[same]
	m.results[result], m.calls[same] = true, true
	if o.Status == tool.Completed {
		if seen && !changed && (again || !needs(o, tool.Write)) { // where a further item is written, nobody sees
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
