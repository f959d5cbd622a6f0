package kern

import "math/bits"

// Class is a set of bytes: any ASCII bytes, and either all or none of the others. The assembly
// depends on the layout.
type Class struct {
	Low   [16]byte // by lower nibble: a bit for each upper nibble in the set
	High  [16]byte // by upper nibble: its bit; 0 from 8 on
	Wide  uint64   // all ones if the set has the non-ASCII bytes
	Plain bool     // use the Go version
}

// NewClass returns the class with the ASCII bytes that in reports, and all others if wide.
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

// Has reports whether b is in the set.
func (c *Class) Has(b byte) bool {
	if b >= 0x80 {
		return c.Wide != 0
	}
	return c.Low[b&15]&c.High[b>>4] != 0
}

// wordBits is the number of bytes covered by a word of marks.
const wordBits = 64

// wordsAtOnce is the number of words processed together.
const wordsAtOnce = 64

// Runs finds runs of at least Min bytes in a class.
type Runs struct {
	Class *Class
	Min   int // from 2 to 63
	marks [wordsAtOnce]uint64
}

// Find writes the starts of runs at or after from into places. It returns their number and the
// offset to continue at. A run that began before from starts there. A long run may be reported more
// than once. Not safe for concurrent use.
func (r *Runs) Find(text []byte, from int, places []uint32) (n, next int) {
	for from < len(text) && n == 0 {
		size := min(len(text)-from, wordsAtOnce*wordBits)
		marks := r.mark(text, from, size)
		whole := marks
		if from+size < len(text) {
			whole = marks[:len(marks)-1] // the last word only provides the bits after the others
		}
		n, next = r.starts(marks, len(whole), from, places)
		from = min(next, len(text))
	}
	return n, from
}

// mark sets a bit for each of size bytes that is in the class. Later bits are zero.
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

// starts writes the starts of runs in the first words; base is their text offset.
func (r *Runs) starts(marks []uint64, words, base int, places []uint32) (n, next int) {
	before := uint64(0) // 1 if the byte before the word is in a run
	for i, low := range marks[:words] {
		if low == 0 {
			before = 0
			continue
		}
		high := uint64(0)
		if i+1 < len(marks) {
			high = marks[i+1]
		}
		for have := 1; have < r.Min; {
			step := min(have, r.Min-have)
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
