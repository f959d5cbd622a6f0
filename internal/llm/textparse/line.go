package textparse

import "bytes"

// line tracks the position in a line, and whether it is inside an example: a fence, backticks, or a
// quotation.
type line struct {
	blank bool // only space so far
	words bool // it has text before any block
	last  byte
	end   byte // last non-space byte
	fresh bool // a block has just ended

	mark, run int // the fence sign at its start, and its count
	// fence is the open fence's sign, ticks its length: only a line of as many signs closes it.
	fence, ticks     int
	opening, closing bool // this line opens the fence, or may close it
	quotation        bool // the line begins with >

	tickRun int // number of adjacent backticks
	// span is the number of backticks before the inline code around markup: only as many close it,
	// on any line.
	span int
}

func (l *line) add(text []byte) {
	for _, b := range text {
		l.code(b)
		switch {
		case b == '\n':
			if l.closing {
				l.fence = 0
			}
			*l = line{blank: true, fence: l.fence, ticks: l.ticks, end: l.end, fresh: l.fresh, span: l.span}
		case (b == '`' || b == '~') && (l.blank || l.run > 0 && l.mark == int(b) && l.last == b):
			l.tick(int(b))
		case b != ' ' && b != '\t' && b != '\r':
			l.word(b)
		}
		l.last = b
	}
}

// code tracks runs of backticks to the one that closes inline code.
func (l *line) code(b byte) {
	if b == '`' {
		l.tickRun++
		return
	}
	if l.tickRun > 0 && l.tickRun == l.span {
		l.span = 0
	}
	l.tickRun = 0
}

func (l *line) tick(b int) {
	l.blank, l.words, l.mark, l.end = false, true, b, byte(b)
	l.run++
	switch {
	case l.fence == 0 && l.run >= 3, l.opening:
		l.fence, l.ticks, l.opening = b, l.run, true
	case l.fence == b:
		l.closing = l.run >= l.ticks
	}
}

func (l *line) word(b byte) {
	if l.opening && l.mark == '`' && b == '`' { // inline code, not a fence's language
		l.fence, l.opening = 0, false
	}
	l.quotation = l.quotation || l.blank && b == '>'
	l.blank, l.words, l.closing, l.end, l.run = false, true, false, b, 0
}

// quoted reports whether markup here is an example.
func (l *line) quoted() bool { return l.fence != 0 || l.last == '`' || l.quotation || l.span > 0 }

// sentence reports whether markup here begins a sentence or the message. Of non-ASCII letters it
// sees the last byte: most end a sentence in another script or are emoji, except for opening
// quotation marks.
func (l *line) sentence() bool {
	if l.end >= 0x80 {
		return bytes.IndexByte([]byte("\x9c\x9e\x98\xab\x8c\x8e\xb9"), l.end) < 0
	}
	return l.end == 0 || bytes.IndexByte([]byte(".!?:;>*)]}`"), l.end) >= 0
}

// starting returns the index of the first byte that can begin markup, or len(text).
func starting(text []byte) int {
	n := bytes.IndexAny(text, starters)
	if n < 0 {
		n = len(text)
	}
	for at := 0; at < n; at++ {
		i := bytes.IndexByte(text[at:n], leakedHeader[0])
		if i < 0 {
			break
		}
		at += i
		if k := min(len(leakedHeader), len(text)-at); string(text[at:at+k]) == leakedHeader[:k] {
			n = at
		}
	}
	return n
}
