package sign

import "math/bits"

const (
	// blockSize is the text that one bit set is about, in bytes; overlap is how much of the next
	// block it knows too.
	blockSize = 16 << 10
	overlap   = 256
	// gramBits is the size of the numbers that stand for three bytes.
	gramBits = 18
	// bitsPerTwo is how large a block's set is: bits for two numbers in it.
	bitsPerTwo = 5
)

// folded turns a byte to lower case, if it is a letter of ASCII.
func folded(b byte) byte {
	if b-'A' < 26 {
		return b | 0x20
	}
	return b
}

// gram is the number of three bytes that are folded already.
func gram(three uint32) uint32 { return three * 0x9e3779b1 << 8 >> (32 - gramBits) }

// signer makes the sets of blocks. Not for concurrent use.
type signer struct {
	seen [1 << gramBits / 64]uint64
	set  []byte
}

// block returns the set of a text; it is valid until the next call. Sequences with a line break are
// left out: hardly a pattern has one.
func (s *signer) block(text []byte) []byte {
	var three uint32
	fresh := 0 // bytes since the last line break
	for _, b := range text {
		if b-'A' < 26 {
			b |= 0x20
		}
		three = three<<8 | uint32(b)
		if fresh++; b == '\n' {
			fresh = 0
		}
		if fresh >= 3 {
			n := gram(three)
			s.seen[n>>6] |= 1 << (n & 63)
		}
	}
	count := 0
	for _, word := range s.seen {
		count += bits.OnesCount64(word)
	}
	s.set = append(s.set[:0], make([]byte, (count*bitsPerTwo+15)/16)...)
	size := uint32(len(s.set)) * 8
	for i, word := range s.seen {
		for ; word != 0; word &= word - 1 {
			at := place(uint32(i)<<6|uint32(bits.TrailingZeros64(word)), size)
			s.set[at>>3] |= 1 << (at & 7)
		}
		s.seen[i] = 0
	}
	return s.set
}

// place is the bit of a number in a set of some bits; their order is that of the numbers.
func place(n, size uint32) uint32 { return uint32(uint64(n) * uint64(size) >> gramBits) }

// holds reports whether a set has all of some numbers.
func holds(set []byte, grams []uint32) bool {
	size := uint32(len(set)) * 8
	if size == 0 {
		return len(grams) == 0
	}
	for _, n := range grams {
		at := place(n, size)
		if set[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// gramsOf lists the numbers of a text of a pattern.
func gramsOf(text string) []uint32 {
	var all []uint32
	text = text[:min(len(text), overlap)]
	for i := 0; i+3 <= len(text); i++ {
		a, b, c := text[i], text[i+1], text[i+2]
		if a != '\n' && b != '\n' && c != '\n' {
			all = append(all, gram(uint32(folded(a))<<16|uint32(folded(b))<<8|uint32(folded(c))))
		}
	}
	return all
}
