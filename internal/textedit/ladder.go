package textedit

import (
	"strings"

	"adze/internal/text"
)

// Step is the comparison that found a place.
type Step string

// The steps of the ladder, as the model is told.
const (
	Exact      Step = "exact"
	Numbered   Step = "line numbers stripped"
	LineEnds   Step = "line ends ignored"
	Indented   Step = "re-indented"
	Normalised Step = "look-alike characters"
	Similar    Step = "similar"
)

type rung struct {
	step    Step
	literal bool // the same characters, so also right for several places and unread files
	find    func(*doc, Edit) []Span
}

// ladder lists the comparisons from strict to lenient.
func ladder() []rung {
	return []rung{
		{Exact, true, exact},
		{Numbered, true, numbered},
		{LineEnds, true, lineEnds},
		{Indented, false, indented},
		{Normalised, false, normalised},
		{Similar, false, similar},
	}
}

// exact finds the characters as written. Places that overlap count as several unless all are wanted.
func exact(d *doc, e Edit) (found []Span) {
	for at := 0; ; {
		i := strings.Index(d.Text[at:], e.Old)
		if i < 0 {
			return found
		}
		start, end := at+i, at+i+len(e.Old)
		found = append(found, Span{Start: start, End: end, New: d.newlines(start, end, e)})
		at = start + 1
		if e.All {
			at = end
		}
	}
}

// numbered strips the line numbers that read puts before every line, from both texts, and looks again.
func numbered(d *doc, e Edit) []Span {
	plain, ok := stripNumbers(e)
	if !ok {
		return nil
	}
	for _, again := range []func(*doc, Edit) []Span{exact, lineEnds} {
		if found := again(d, plain); len(found) > 0 {
			return found
		}
	}
	return nil
}

// lineEnds takes \n, \r\n and \r for the same.
func lineEnds(d *doc, e Edit) (found []Span) {
	if !strings.Contains(d.Text, "\r") && !strings.Contains(e.Old, "\r") {
		return nil
	}
	plain, cuts := foldNewlines(d.Text)
	old := text.WithNewlines(e.Old, "\n")
	for at := 0; ; {
		i := strings.Index(plain[at:], old)
		if i < 0 {
			return found
		}
		start, end := original(cuts, at+i), original(cuts, at+i+len(old))
		found = append(found, Span{Start: start, End: end, New: text.WithNewlines(e.New, d.newlineNear(start, end))})
		at += i + 1
		if e.All {
			at += len(old) - 1
		}
	}
}

// foldNewlines gives s with \n only, and where in the result a \r was dropped.
func foldNewlines(s string) (string, []int) {
	var out strings.Builder
	out.Grow(len(s))
	var cuts []int
	for {
		i := strings.IndexByte(s, '\r')
		if i < 0 {
			out.WriteString(s)
			return out.String(), cuts
		}
		out.WriteString(s[:i])
		s = s[i+1:]
		if strings.HasPrefix(s, "\n") {
			cuts = append(cuts, out.Len())
			s = s[1:]
		}
		out.WriteByte('\n')
	}
}

// original maps an index of a folded text back: every cut before it was one byte more.
func original(cuts []int, at int) int {
	lo, hi := 0, len(cuts)
	for lo < hi {
		if mid := (lo + hi) / 2; cuts[mid] < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return at + lo
}
