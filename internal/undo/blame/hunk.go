package blame

import (
	"fmt"
	"strings"
)

// hunk is one part of a change: the old and new lines.
type hunk struct {
	at     int // start in the new file, from 0
	lines  []diffLine
	hidden int // lines after it that may have changed too: the diff was truncated there
}

// diffLine is a line of a diff. Its sign is a space for context.
type diffLine struct {
	sign byte
	text string
}

func (u hunk) text() (out []string) {
	for _, l := range u.lines {
		if l.sign != '-' {
			out = append(out, l.text)
		}
	}
	return out
}

// added reports whether the n-th line of the new side is new.
func (u hunk) added(n int) bool {
	for _, l := range u.lines {
		if l.sign == '-' {
			continue
		}
		if n == 0 {
			return l.sign == '+'
		}
		n--
	}
	return false
}

// bare removes the line ending, which may differ between diff and file.
func bare(text string) string { return strings.TrimRight(text, "\r\n") }

// contents returns the contents before and after a change if both are stored and the diff is
// incomplete.
func (c Change) contents(kept Contents) (before, after string, known bool) {
	if c.Diff != "" && !strings.Contains(c.Diff, cutMark) || kept == nil || c.After == "" {
		return "", "", false
	}
	if after, known = kept(c.After); known && !c.Created {
		before, known = kept(c.Before)
	}
	return before, after, known
}

// parse reads a unified diff of one file as printed by package diff.
func parse(text string) (out []hunk) {
	for t := range strings.SplitSeq(text, "\n") {
		var from, to string
		if n, _ := fmt.Sscanf(t, "@@ -%s +%s @@", &from, &to); n == 2 {
			at, size := span(to)
			if size > 0 {
				at--
			}
			out = append(out, hunk{at: at})
			continue
		}
		if len(out) == 0 || t == "" || strings.IndexByte(" +-", t[0]) < 0 {
			continue // file names, a missing newline, or the truncation mark
		}
		u := &out[len(out)-1]
		u.lines = append(u.lines, diffLine{t[0], bare(t[1:])})
	}
	if strings.Contains(text, cutMark) && len(out) > 0 {
		out[len(out)-1].hidden = 1 << 30
	}
	return out
}

// cutMark ends a diff that was truncated for the log.
const cutMark = " more lines are not shown\n"

// span parses "12,3" or "12".
func span(text string) (at, size int) {
	if n, _ := fmt.Sscanf(text, "%d,%d", &at, &size); n < 2 {
		size = 1
	}
	return at, size
}
