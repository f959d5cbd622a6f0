//go:build !amd64 && !arm64

package kern

const vectors = false

func pair(text *byte, from, to int, p *Pair, places *uint32, room int) (n, next int) {
	panic("kern: there is no kernel for this processor")
}

func window(text *byte, from, to int, w *Window, places *uint32, room int) (n, next int) {
	panic("kern: there is no kernel for this processor")
}

func classBits(text *byte, words int, c *Class, marks *uint64) {
	panic("kern: there is no kernel for this processor")
}

func quadBits(text *byte, words int, q *Quads, marks *uint64) {
	panic("kern: there is no kernel for this processor")
}
