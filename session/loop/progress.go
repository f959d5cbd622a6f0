package loop

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/tool"
)

// Costs of a step that brings the work no further. A step costs what the most useful of its calls
// costs; a step that changes files or tells something new sets the sum back to zero. At
// fruitlessTell the model is told, at fruitlessStop the turn ends: after 10 and 20 failures in a
// row that say nothing new, and after 50 and 100 results that were seen before.
const (
	costFailed    = 50 // it failed with words that earlier failures had
	costSeen      = 10 // it ended as other calls did, or it failed and changed files, or a number in its failure is new
	costNumber    = 3  // it succeeded, and only numbers of its result are new, or it wrote something elsewhere
	fruitlessTell = 500
	fruitlessStop = 1000
	// A failure is news when at least one of newsShare of its words was not in an earlier one.
	newsShare = 8
)

// fruitless measures the steps since the last one that brought the work further.
type fruitless struct {
	cost  int
	calls count // only their steps, duration and whether a job is waited for
	told  bool
}

func (f *fruitless) tell() bool {
	return !f.told && f.cost >= fruitlessTell*f.calls.patience(f.calls.mean(), slowTell, slowTell, pendingTell)
}

func (f *fruitless) stop() bool {
	return f.told && f.cost >= fruitlessStop*f.calls.patience(f.calls.mean(), slowStop, slowerStop, pendingStop)
}

// memory is what the results of a turn have said so far.
type memory struct {
	failures map[string]bool            // words of results that failed
	words    map[string]bool            // words of results that did not
	results  map[[sha256.Size]byte]bool // whole results
	calls    map[[sha256.Size]byte]bool // calls, whatever came of them
}

// cost weighs the result of a call and remembers it.
func (m *memory) cost(call tool.RawCall, o tool.Outcome, changed bool) int {
	if m.results == nil {
		*m = memory{map[string]bool{}, map[string]bool{}, map[[sha256.Size]byte]bool{}, map[[sha256.Size]byte]bool{}}
	}
	said := newWords(call.Arguments, o.Output)
	result := said.sum(o)
	seen := m.results[result]
	m.results[result] = true
	same := sha256.Sum256([]byte(call.Name + "\x00" + canonical(call.Arguments)))
	again := m.calls[same]
	m.calls[same] = true
	if o.Status == tool.Completed {
		news := learn(m.words, said.words)
		switch {
		case changed:
			return 0
		case seen && !(writes(o) && !again): // a further item, of which nobody sees where it is written
			return costSeen
		case news == 0:
			return costNumber
		}
		return 0
	}
	news := learn(m.failures, said.words)
	switch {
	case news > 0 && news*newsShare >= said.different():
		return 0
	case changed, again && !seen:
		return costSeen
	}
	return costFailed
}

// learn adds words to those that are known and counts the new ones.
func learn(known map[string]bool, words []string) (news int) {
	for _, w := range words {
		if !known[w] {
			known[w] = true
			news++
		}
	}
	return news
}

// resultText is what a result says beyond the arguments of its call.
type resultText struct {
	words []string // in lower case, as often as they are said
	text  []byte   // words and numbers, each behind a zero byte
}

// different counts the words, each once.
func (s resultText) different() int {
	once := map[string]bool{}
	for _, w := range s.words {
		once[w] = true
	}
	return len(once)
}

// newWords splits a result into words and numbers, without those of the arguments and without
// measured durations: a failure that repeats the name of its file says nothing that the name did
// not.
func newWords(arguments, output string) (s resultText) {
	given, longest := map[string]bool{}, 0
	split(arguments[:min(len(arguments), mostCanonical)], func(w string, _ bool) {
		given[w], longest = true, max(longest, len(w))
	})
	s.text = make([]byte, 0, len(output)+len(output)/4)
	for {
		before, after, found := cutMeasured(output)
		split(before, func(w string, number bool) {
			if len(w) <= longest && given[w] {
				return
			}
			s.text = append(append(s.text, 0), w...)
			if !number {
				s.words = append(s.words, w)
			}
		})
		if !found {
			return s
		}
		output = after
	}
}

// split calls yield with each run of letters and digits, in lower case, and whether it holds a
// digit.
func split(text string, yield func(word string, number bool)) {
	start, number := -1, false
	for i, r := range text {
		digit := '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r)
		switch {
		case digit, 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r >= utf8.RuneSelf && unicode.IsLetter(r):
			if start < 0 {
				start, number = i, false
			}
			number = number || digit
		case start >= 0:
			yield(strings.ToLower(text[start:i]), number)
			start = -1
		}
	}
	if start >= 0 {
		yield(strings.ToLower(text[start:]), number)
	}
}

// sum tells results with the same words and numbers from others.
func (s resultText) sum(o tool.Outcome) (sum [sha256.Size]byte) {
	h := sha256.New()
	_, _ = h.Write([]byte(string(o.Status) + "\x00" + o.Tool))
	_, _ = h.Write(s.text)
	for _, a := range o.Attachments {
		data := sha256.Sum256(a.Data)
		_, _ = h.Write(data[:])
	}
	h.Sum(sum[:0])
	return sum
}

// add takes a step with the cost of its most useful call.
func (f *fruitless) add(step []stepCall, took time.Duration) {
	cost := costFailed
	for _, m := range step {
		cost = min(cost, m.cost)
		f.calls.pending = f.calls.pending || m.pending
	}
	if cost == 0 {
		*f = fruitless{}
		return
	}
	f.cost += cost
	f.calls.steps++
	f.calls.took += took
}

// writes reports a call of a tool that asked to write.
func writes(o tool.Outcome) bool {
	return slices.ContainsFunc(o.Record.Needs, func(n tool.Need) bool { return n.Permission == tool.Write })
}
