package blame

import (
	"fmt"
	"strings"
)

// hunk is a part of a change: what stood there, and what stands there since.
type hunk struct {
	at     int // from 0, where it begins in the new file
	lines  []diffLine
	hidden int // lines behind it that may be changed, too: the difference was cut there
}

// diffLine is a line of a difference; its sign is a space where it stayed.
type diffLine struct {
	sign byte
	text string
}

// text is the new side.
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

// bare is a line without its end, of which a difference and a file may have different ones.
func bare(text string) string { return strings.TrimRight(text, "\r\n") }

// contents are those before and after a change, where they are kept and the difference is not
// whole.
func (c Change) contents(kept Contents) (before, after string, known bool) {
	if c.Diff != "" && !strings.Contains(c.Diff, cutMark) || kept == nil || c.After == "" {
		return "", "", false
	}
	if after, known = kept(c.After); known && !c.Created {
		before, known = kept(c.Before)
	}
	return before, after, known
}

// parse reads a unified difference of one file, as package diff prints it.
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
			continue // the names of the file, a line without its end, or what was cut
		}
		u := &out[len(out)-1]
		u.lines = append(u.lines, diffLine{t[0], bare(t[1:])})
	}
	if strings.Contains(text, cutMark) && len(out) > 0 {
		out[len(out)-1].hidden = 1 << 30
	}
	return out
}

// cutMark stands in a difference that was cut for the log.
const cutMark = " more lines are not shown\n"

// span reads "12,3" or "12".
func span(text string) (at, size int) {
	if n, _ := fmt.Sscanf(text, "%d,%d", &at, &size); n < 2 {
		size = 1
	}
	return at, size
}
