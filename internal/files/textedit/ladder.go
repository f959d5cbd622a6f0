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
	Fenced     Step = "fence taken off"
	Unmarked   Step = "diff or quote marks taken off"
	Unescaped  Step = "escapes read"
	Entities   Step = "entities read"
	LineEnds   Step = "line ends ignored"
	Indented   Step = "re-indented"
	Normalised Step = "look-alike characters"
	Spaced     Step = "white space ignored"
	Similar    Step = "similar"
)

type rung struct {
	step    Step
	literal bool // the same characters, so also right for several places and unread files
	find    func(*doc, Edit) ([]Span, error)
}

// ladder lists the comparisons from strict to lenient.
func ladder() []rung {
	return []rung{
		{Exact, true, whole(exact)},
		{LineEnds, true, whole(lineEnds)},
		{Indented, false, indented},
		{Normalised, false, normalised},
		{Spaced, false, spaced},
		{Similar, false, similar},
	}
}

// whole makes a step of a search for the same characters. A place inside a line's indentation is
// left to the next steps where it matters how deep the new lines stand.
func whole(find func(*doc, Edit) []Span) func(*doc, Edit) ([]Span, error) {
	return func(d *doc, e Edit) ([]Span, error) {
		found := find(d, e)
		if len(found) != 1 {
			return found, nil
		}
		return d.literal(found[0], e)
	}
}

// exact finds the characters as written. Places that overlap count as several unless all are
// wanted.
func exact(d *doc, e Edit) (found []Span) {
	for at := 0; ; {
		i := strings.Index(d.Text[at:], e.Old)
		if i < 0 {
			return found
		}
		start, end := at+i, at+i+len(e.Old)
		at = start + 1
		if start > 0 && d.Text[start] == '\n' && d.Text[start-1] == '\r' {
			start-- // a line end stays whole
		}
		found = append(found, Span{Start: start, End: end, New: d.newlines(start, end, e)})
		if e.All {
			at = end
		}
	}
}

// lineEnds takes \n, \r\n and \r for the same.
func lineEnds(d *doc, e Edit) (found []Span) {
	if !strings.Contains(d.Text, "\r") && !strings.Contains(e.Old, "\r") {
		return lastLine(d, e)
	}
	plain, cuts := foldNewlines(d.Text)
	old := text.WithNewlines(e.Old, "\n")
	for at := 0; ; {
		i := strings.Index(plain[at:], old)
		if i < 0 {
			if len(found) == 0 {
				return lastLine(d, e)
			}
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

// lastLine takes a copy with a line end for the last lines of a text that has none.
func lastLine(d *doc, e Edit) []Span {
	old, ended := strings.CutSuffix(text.WithNewlines(e.Old, "\n"), "\n")
	rows := d.lines()
	if !ended || old == "" || len(rows) == 0 || rows[len(rows)-1].next > rows[len(rows)-1].end {
		return nil
	}
	n := strings.Count(old, "\n") + 1
	if n > len(rows) {
		return nil
	}
	start := rows[len(rows)-n].start
	if text.WithNewlines(d.Text[start:], "\n") != old {
		return nil
	}
	next := strings.TrimSuffix(text.WithNewlines(e.New, "\n"), "\n")
	return []Span{{Start: start, End: len(d.Text), New: text.WithNewlines(next, d.newlineNear(start, len(d.Text)))}}
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
