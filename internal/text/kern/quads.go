package kern

// Quads looks for four bytes in a row, each from a set of its own, for up to eight alternatives at
// once: a Window of four. It marks places, so that several of them, and a Class, can be joined. Bit
// k of a table belongs to alternative k, and a byte is in a set as it is for a Window. The assembly
// knows the layout.
type Quads struct {
	Low, High [quad][16]byte
}

// quad is how many bytes stand in a row.
const quad = 4

// Add puts a byte into the set of an alternative at one of the four positions.
func (q *Quads) Add(alternative, position int, b byte) {
	q.Low[position][b&15] |= 1 << alternative
	q.High[position][b>>4] |= 1 << alternative
}

// Mark sets the bit of each place that is a candidate, for 64 places a word from a byte on. The
// text reaches three bytes behind the last of them at least.
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

// twin does the same byte by byte.
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

// Mark sets marks to the bytes of the class, 64 a word from a byte on.
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
