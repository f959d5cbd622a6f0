package redact

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"adze/internal/text/kern"
)

// vectorMarks implements pairTable.next with vector kernels. In each block of text it marks the
// places where four bytes may begin a secret, an escape or a known value. Like the table it may
// mark too many.
type vectorMarks struct {
	pairs    *pairTable // for the text's end
	values   []kern.Quads
	from, to int // current block
	marks    [marksAtOnce]uint64
	words    [marksAtOnce]uint64
}

const (
	marksAtOnce = 64
	markBits    = 64
	inRow       = 4 // bytes compared by Quads
)

// minMarked is the shortest text for which the kernels pay off.
const minMarked = 1 << 10

func (x *vectorMarks) next(s string, i, end int) int {
	end = min(end, len(s)-1)
	if i >= end {
		return i
	}
	for i < end {
		if i >= x.to && !x.fill(s, i) {
			return x.pairs.next(s, i, end)
		}
		word := (i - x.from) / markBits
		if marks := x.marks[word] >> ((i - x.from) % markBits); marks != 0 {
			return min(end, i+bits.TrailingZeros64(marks))
		}
		i = x.from + (word+1)*markBits
	}
	return end
}

// fill marks the block at from; it returns false if the remaining text is too short.
func (x *vectorMarks) fill(s string, from int) bool {
	size := min(marksAtOnce, (len(s)-from-inRow+1)/markBits)
	if size < 1 {
		return false
	}
	x.from, x.to = from, from+size*markBits
	marks, words, of := x.marks[:size], x.words[:size], kindQuads()
	text := unsafe.Slice(unsafe.StringData(s), len(s)) // read-only
	clear(marks)
	for n := range of.outer {
		of.outer[n].Mark(text, from, marks)
	}
	of.words.Mark(text, from, words)
	before := uint64(0) // 1 if a word continues from before
	if from > 0 && word(s[from-1]) {
		before = 1
	}
	for i, w := range words {
		marks[i] &= w &^ (w<<1 | before)
		before = w >> (markBits - 1)
	}
	of.anywhere.Mark(text, from, marks)
	for n := range x.values {
		x.values[n].Mark(text, from, marks)
	}
	return true
}

type quads struct {
	words    *kern.Class
	outer    [2]kern.Quads // kinds that begin with a word
	anywhere kern.Quads    // kinds that begin within a word or with another character, and escapes
}

// outerGroups are first bytes of kinds that share an alternative in quads.outer, grouped so that
// the fewest ordinary words match. Bytes not listed belong to the last group.
var outerGroups = [...]string{
	"BDEFGHIJKL0123456789", "AP", "C", "MNO", "QRUWXYZ", "S", "TV", "ef_",
	"aho", "c", "d", "gln", "px", "ry", "s", "tw",
}

// anywhereGroups is the same for quads.anywhere.
var anywhereGroups = [...]string{":-", "?", "&", "%", `\`, "~", "_", ""}

var kindQuads = sync.OnceValue(func() *quads {
	q := &quads{words: kern.NewClass(word, false)}
	outer, inner := kinds(), innerKinds()
	for a := range 256 {
		first := byte(a)
		for n := range outer[a] {
			if set := outer[a][n].bytesInRow(first); word(first) {
				group := groupOf(outerGroups[:], first)
				addQuad(&q.outer[group/8], group%8, set)
			} else {
				addQuad(&q.anywhere, groupOf(anywhereGroups[:], first), set)
			}
		}
		for n := range inner[a] {
			addQuad(&q.anywhere, groupOf(anywhereGroups[:], first), inner[a][n].bytesInRow(first))
		}
		if escape(first) {
			addQuad(&q.anywhere, groupOf(anywhereGroups[:], first), escapeInRow(first))
		}
	}
	return q
})

func groupOf(groups []string, first byte) int {
	for n, group := range groups[:len(groups)-1] {
		if slices.Contains([]byte(group), first) {
			return n
		}
	}
	return len(groups) - 1
}

func addQuad(q *kern.Quads, alternative int, set [inRow]byteSet) {
	for position := range set {
		for n, rest := range set[position] {
			for ; rest != 0; rest &= rest - 1 {
				q.Add(alternative, position, byte(n*64+bits.TrailingZeros64(rest)))
			}
		}
	}
}

// bytesInRow returns the bytes that a kind may begin with after this first byte.
func (k *kind) bytesInRow(first byte) (set [inRow]byteSet) {
	set[0].add(first)
	for place := 1; place < inRow; place++ {
		set[place] = k.bytesAt(place)
	}
	return set
}

// escapeInRow returns the bytes of an escape that may precede a word.
func escapeInRow(first byte) (set [inRow]byteSet) {
	set[0].add(first)
	for c := range 256 {
		b := byte(c)
		if first == '%' && hexDigit(b) {
			set[1].add(b)
			set[2].add(b)
		}
		if first == '\\' && (slices.Contains([]byte(shortEscapes), b) || b == 'u') {
			set[1].add(b)
		}
		if first == '\\' && word(b) {
			set[2].add(b)
		}
		if first == '\\' || word(b) {
			set[3].add(b)
		}
	}
	return set
}

// valueQuads returns kernels for known values, grouped by their first bytes.
func valueQuads(values []value) []kern.Quads {
	texts := make([]string, 0, len(values))
	for _, v := range values {
		texts = append(texts, v.text[:inRow])
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	out := make([]kern.Quads, min(maxValueQuads, (len(texts)+alternatives-1)/alternatives))
	groups := alternatives * len(out)
	for n, text := range texts {
		group := n * groups / len(texts)
		for position := range inRow {
			out[group/alternatives].Add(group%alternatives, position, text[position])
		}
	}
	return out
}

const (
	alternatives  = 8 // in Quads
	maxValueQuads = 4
)
