package kern

import "math/bits"

// Class is a set of bytes: any of ASCII, and either all the others or none. The assembly knows the
// layout.
type Class struct {
	Low   [16]byte // by the lower four bits of a byte: a bit for each value of the upper that is in the set
	High  [16]byte // by the upper four bits: their bit; none from 8 on
	Wide  uint64   // all ones: bytes beyond ASCII are in the set
	Plain bool     // use the twin
}

// NewClass makes a class of those bytes of ASCII that in reports, and of all others if wide.
func NewClass(in func(b byte) bool, wide bool) *Class {
	c := &Class{}
	for b := range byte(0x80) {
		if in(b) {
			c.Low[b&15] |= 1 << (b >> 4)
		}
	}
	for k := range 8 {
		c.High[k] = 1 << k
	}
	if wide {
		c.Wide = ^uint64(0)
	}
	return c
}

// Has reports whether a byte is in the set.
func (c *Class) Has(b byte) bool {
	if b >= 0x80 {
		return c.Wide != 0
	}
	return c.Low[b&15]&c.High[b>>4] != 0
}

// wordBits is how many bytes one word of marks is about.
const wordBits = 64

// wordsAtOnce is how many words of marks are looked at together.
const wordsAtOnce = 64

// Runs looks for runs of at least Least bytes of a class.
type Runs struct {
	Class *Class
	Least int // from 2 to 63
	marks [wordsAtOnce]uint64
}

// Find writes the next places at or after from where a run begins into places and returns how many,
// and from where to search on. One that began before from begins there. In a long run more than one
// place may be named. Not for concurrent use.
func (r *Runs) Find(text []byte, from int, places []uint32) (n, next int) {
	for from < len(text) && n == 0 {
		size := min(len(text)-from, wordsAtOnce*wordBits)
		marks := r.mark(text, from, size)
		whole := marks
		if from+size < len(text) {
			whole = marks[:len(marks)-1] // the last is only what follows the others
		}
		n, next = r.starts(marks, len(whole), from, places)
		from = min(next, len(text))
	}
	return n, from
}

// mark marks the bytes of the class among size bytes. Bits behind them are zero.
func (r *Runs) mark(text []byte, from, size int) []uint64 {
	words := (size + wordBits - 1) / wordBits
	done := 0
	if vectors && !r.Class.Plain {
		done = min(words, (cap(text)-from)/wordBits)
		if done > 0 {
			classBits(&text[from], done, r.Class, &r.marks[0])
		}
	}
	for w := done; w < words; w++ {
		r.marks[w] = r.Class.twin(text[from+w*wordBits : min(len(text), from+(w+1)*wordBits)])
	}
	if rest := size % wordBits; rest != 0 {
		r.marks[words-1] &= 1<<rest - 1
	}
	return r.marks[:words]
}

// twin marks up to 64 bytes.
func (c *Class) twin(text []byte) (marks uint64) {
	for i, b := range text {
		if c.Has(b) {
			marks |= 1 << i
		}
	}
	return marks
}

// starts names where runs begin in the first words of marks, which are about the text from base on.
func (r *Runs) starts(marks []uint64, words, base int, places []uint32) (n, next int) {
	before := uint64(0) // 1: the place in front of the word is in a run
	for i, low := range marks[:words] {
		if low == 0 {
			before = 0
			continue
		}
		high := uint64(0)
		if i+1 < len(marks) {
			high = marks[i+1]
		}
		for have := 1; have < r.Least; {
			step := min(have, r.Least-have)
			low &= low>>step | high<<(wordBits-step)
			high &= high >> step
			have += step
		}
		at := base + i*wordBits
		for first := low &^ (low<<1 | before); first != 0; first &= first - 1 {
			place := at + bits.TrailingZeros64(first)
			if n == len(places) {
				return n, place
			}
			places[n] = uint32(place)
			n++
		}
		before = low >> (wordBits - 1)
	}
	return n, base + words*wordBits
}
