package textparse

import (
	"bytes"
	"encoding/binary"
)

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

	tail     [2]uint64 // the last sixteen bytes
	thinking bool      // between <think> and </think>, which a server did not take out
}

func (l *line) add(text []byte) {
	for _, b := range text {
		l.think(b)
		l.code(b)
		switch {
		case b == '\n':
			if l.closing {
				l.fence = 0
			}
			*l = line{blank: true, fence: l.fence, ticks: l.ticks, end: l.end, fresh: l.fresh, tail: l.tail, thinking: l.thinking, span: l.span}
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

// think follows the tags around a thought.
func (l *line) think(b byte) {
	l.tail[0], l.tail[1] = l.tail[0]<<8|l.tail[1]>>56, l.tail[1]<<8|uint64(b)
	if b != '>' && b != ']' {
		return
	}
	var last [16]byte
	binary.BigEndian.PutUint64(last[:8], l.tail[0])
	binary.BigEndian.PutUint64(last[8:], l.tail[1])
	for _, end := range thoughtEnds() {
		if bytes.HasSuffix(last[:], []byte(end)) {
			l.thinking = false
			return
		}
	}
	for _, begin := range thoughtBegins() {
		l.thinking = l.thinking || bytes.HasSuffix(last[:], []byte(begin))
	}
}

// thoughtBegins and thoughtEnds are the last bytes, at most sixteen, of the marks around a thought:
// those of most, of Seed, Mistral and Command.
func thoughtBegins() []string {
	return []string{"<think>", "<thinking>", "<seed:think>", "[THINK]", "START_THINKING|>"}
}

func thoughtEnds() []string {
	return []string{"</think>", "</thinking>", "</seed:think>", "[/THINK]", "<|END_THINKING|>"}
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
	for _, w := range words() {
		for at := 0; at < n; at++ {
			i := bytes.IndexByte(text[at:n], w[0])
			if i < 0 {
				break
			}
			at += i
			if k := min(len(w), len(text)-at); string(text[at:at+k]) == w[:k] {
				n = at
			}
		}
	}
	return n
}
