package vim

import (
	"strings"

	"adze/tui/edit"
)

// object is the text that a text object names; if false, there is none around the cursor.
func object(e *edit.Editor, c command) (from, to int, ok bool) {
	around := c.object == "a"
	if c.verb == "w" || c.verb == "W" {
		from, to = wordObject(e, c.verb == "W", around)
		return from, to, from < to
	}
	return quoteObject(e, c.verb, around)
}

// wordObject is the word at the cursor; around it, the blanks behind it, or else those before.
func wordObject(e *edit.Editor, big, around bool) (from, to int) {
	start, end := e.LineStart(), e.LineEnd()
	line := e.Text[start:end]
	at := e.At - start
	k := kindAt(line, at, big)
	from, to = at, skip(line, at, k, big)
	for from > 0 {
		before := lastLetter(line, from)
		if skip(line, before, k, big) <= before {
			break
		}
		from = before
	}
	if around {
		next := kindAt(line, to, big)
		switch behind := skip(line, to, blankKind, big); {
		case k == blankKind && to < len(line):
			to = skip(line, to, next, big)
		case behind > to:
			to = behind
		default:
			from = len(strings.TrimRight(line[:from], " \t"))
		}
	}
	return start + from, start + to
}

// quoteObject is the text in quotes at the cursor or behind it in the line.
func quoteObject(e *edit.Editor, quote string, around bool) (from, to int, ok bool) {
	start, end := e.LineStart(), e.LineEnd()
	for at := start; ; {
		i := strings.Index(e.Text[at:end], quote)
		if i < 0 {
			return 0, 0, false
		}
		open := at + i
		j := strings.Index(e.Text[open+1:end], quote)
		if j < 0 {
			return 0, 0, false
		}
		shut := open + 1 + j
		if e.At <= shut {
			if around {
				return open, shut + 1, true
			}
			return open + 1, shut, true
		}
		at = shut + 1
	}
}
