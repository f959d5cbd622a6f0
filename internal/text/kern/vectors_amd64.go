package kern

import "golang.org/x/sys/cpu"

// Without BMI1 its TZCNT would silently run as another instruction.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// pair tests the places from up to to, a multiple of 32 behind it, and reads to the last of them
// plus the greater distance.
//
//go:noescape
func pair(text *byte, from, to int, p *Pair, places *uint32, room int) (n, next int)

// window is pair for a Window; it reads two bytes behind to.
//
//go:noescape
func window(text *byte, from, to int, w *Window, places *uint32, room int) (n, next int)

// classBits marks the bytes of a class in words of 64 bytes each.
//
//go:noescape
func classBits(text *byte, words int, c *Class, marks *uint64)

// quadBits adds the marks of words of 64 places each; it reads three bytes behind them.
//
//go:noescape
func quadBits(text *byte, words int, q *Quads, marks *uint64)
