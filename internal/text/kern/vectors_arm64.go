package kern

// NEON is part of the architecture.
const vectors = true

// pair tests the places from up to to, a multiple of 32 past it, and reads up to the last place
// plus the greater distance.
//
//go:noescape
func pair(text *byte, from, to int, p *Pair, places *uint32, room int) (n, next int)

// window is pair for a Window; it reads two bytes past to.
//
//go:noescape
func window(text *byte, from, to int, w *Window, places *uint32, room int) (n, next int)

// classBits marks the bytes in a class, 64 a word.
//
//go:noescape
func classBits(text *byte, words int, c *Class, marks *uint64)

// quadBits adds marks to words of 64 places; it reads three bytes past them.
//
//go:noescape
func quadBits(text *byte, words int, q *Quads, marks *uint64)
