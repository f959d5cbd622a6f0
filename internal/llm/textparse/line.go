package textparse

import "bytes"

// line is where on its line the text stands, and whether it is an example: in a fence, in
// backticks, in a quotation.
type line struct {
	blank bool // nothing but space so far
	words bool // there is text on it, before any block
	last  byte
	end   byte // the last byte that is no space
	fresh bool // a block has just ended

	mark, run int // the sign of a fence at its start, and how often
	// fence is the sign of the open fence, ticks its length: only a line of as many, and nothing
	// else, closes it.
	fence, ticks     int
	opening, closing bool // this line opens the fence, or closes it so far
	quotation        bool // the line begins with >

	tickRun int // how many backticks came last
	// span is how many backticks opened the code in which markup begins: only as many close it, on
	// whatever line.
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

// code follows runs of backticks to the one that closes code in a line.
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

// tick counts the signs that a fence is made of.
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
	if l.opening && l.mark == '`' && b == '`' { // code in a line, not the language of a fence
		l.fence, l.opening = 0, false
	}
	l.quotation = l.quotation || l.blank && b == '>'
	l.blank, l.words, l.closing, l.end, l.run = false, true, false, b, 0
}

// quoted reports whether what begins here is an example.
func (l *line) quoted() bool { return l.fence != 0 || l.last == '`' || l.quotation || l.span > 0 }

// sentence reports whether what begins here begins a sentence, or nothing was said. Of letters that
// are no ASCII the last byte tells: most end a sentence in another script or are pictures, but for
// the marks that open a quotation.
func (l *line) sentence() bool {
	if l.end >= 0x80 {
		return bytes.IndexByte([]byte("\x9c\x9e\x98\xab\x8c\x8e\xb9"), l.end) < 0
	}
	return l.end == 0 || bytes.IndexByte([]byte(".!?:;>*)]}`"), l.end) >= 0
}

// starting is where the first byte stands that can begin markup, or the length of the text.
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
