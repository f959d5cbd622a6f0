package kern

// Quads finds four consecutive bytes from four sets, for up to eight alternatives at once: a Window
// with four bytes. It returns bits, so that several Quads and a Class can be combined. Bit k in a
// table belongs to alternative k, with the approximation described at Window. The assembly depends
// on the layout.
type Quads struct {
	Low, High [quad][16]byte
}

const quad = 4

// Add adds a byte to an alternative's set at one of the four positions.
func (q *Quads) Add(alternative, position int, b byte) {
	q.Low[position][b&15] |= 1 << alternative
	q.High[position][b>>4] |= 1 << alternative
}

// Mark sets the bit of each candidate, for 64 places a word from a byte on. The text must extend at
// least three bytes past the last place.
func (q *Quads) Mark(text []byte, from int, marks []uint64) {
	done := 0
	if vectors {
		done = len(marks)
		if done > 0 {
			_ = text[from+done*wordBits+quad-2]
			quadBits(&text[from], done, q, &marks[0])
		}
	}
	q.twin(text, from+done*wordBits, marks[done:])
}

func (q *Quads) twin(text []byte, from int, marks []uint64) {
	for w := range marks {
		for bit := range wordBits {
			s := text[from+w*wordBits+bit:][:quad]
			all := q.Low[0][s[0]&15] & q.High[0][s[0]>>4]
			for position := 1; position < quad; position++ {
				all &= q.Low[position][s[position]&15] & q.High[position][s[position]>>4]
			}
			if all != 0 {
				marks[w] |= 1 << bit
			}
		}
	}
}

// Mark sets the bits of the bytes in the class, 64 a word from a byte on.
func (c *Class) Mark(text []byte, from int, marks []uint64) {
	if vectors && !c.Plain && len(marks) > 0 {
		_ = text[from+len(marks)*wordBits-1]
		classBits(&text[from], len(marks), c, &marks[0])
		return
	}
	for w := range marks {
		marks[w] = c.twin(text[from+w*wordBits:][:wordBits])
	}
}
