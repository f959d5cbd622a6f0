package textcall

import "bytes"

// line is where on its line the text stands, and whether it is an example of code.
type line struct {
	blank bool // nothing but space so far
	ticks int  // backticks at its start
	last  byte
	fence bool // between ``` and ```
	fresh bool // a block has just ended
}

func (l *line) add(text []byte) {
	for _, b := range text {
		switch {
		case b == '\n':
			l.blank, l.ticks = true, 0
		case b == '`' && (l.blank || l.ticks > 0 && l.last == '`'):
			l.ticks++
			l.blank = false
			if l.ticks == 3 {
				l.fence = !l.fence
			}
		case b != ' ' && b != '\t':
			l.blank, l.ticks = false, 0
		}
		l.last = b
	}
}

// quoted reports whether what begins here is an example.
func (l *line) quoted() bool { return l.fence || l.last == '`' }

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
