package vim

import (
	"strings"

	"adze/tui/edit"
)

// wordObject returns the word at the cursor; around adds the blanks after it, or else those before
// it.
func wordObject(e *edit.Editor, big, around bool) (from, to int) {
	start, end := e.LineStart(), e.LineEnd()
	line := e.Text[start:end]
	at := e.Cursor - start
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
