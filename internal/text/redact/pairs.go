package redact

import (
	"math"
	"slices"
	"sync"
)

// pairTable tells of each pair of bytes whether a secret may begin there, so that a pass over a
// text looks at one number a byte. 64 KB.
type pairTable [1 << 16]uint8

// What a pair of bytes may be.
const (
	pairEnters = 1 << iota // the byte before a beginning, and the first of one: a space and an s
	pairBegins             // the first two bytes of a kind: s and k
	pairValue              // the first two bytes of a known value
)

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// next returns the first place at or behind i, and before end, where a secret may begin or an
// escape stands; it returns the last byte of the text, or end, where there is none.
func (t *pairTable) next(s string, i, end int) int {
	end = min(end, len(s)-1)
	if i >= end {
		return i
	}
	before := byte(' ')
	if i > 0 {
		before = s[i-1]
	}
	pair := pairOf(before, s[i])
	last := t[pair]
	for ; i < end; i++ {
		pair = pair<<8 | uint16(s[i+1])
		now := t[pair]
		if now&(last&pairEnters<<1|pairValue) != 0 {
			return i
		}
		last = now
	}
	return i
}

// candidates are the kinds that can begin with two bytes.
type candidates struct {
	outer []kind  // where a word begins, or with what is no part of a word
	inner []kind  // within a word
	third byteSet // the bytes that one of them may have as its third

	second byte // one that they have as their second
}

// find looks for a secret that begins at i: the span of the first kind that has one, or whether
// more text could make one, if the text has not ended.
func (c *candidates) find(s string, i int, ended bool) (found Span, open bool) {
	if i+2 < len(s) && !c.third.has(s[i+2]) {
		return Span{}, false // nearly always
	}
	list := c.outer
	if word(s[i]) && !boundary(s, i) {
		list = c.inner
	}
	for n := range list {
		found, more := list[n].try(s, i)
		if more && !ended {
			return Span{}, true
		}
		if found.End > found.Start {
			return found, false
		}
	}
	return Span{}, false
}

// index has the kinds by the bytes with which they begin.
type index struct {
	pairs pairTable
	of    [1 << 16]uint8 // where a pair's kinds stand in lists; 0 for none
	lists []candidates
	last  [256]candidates // by one byte: for the end of a text
}

func (x *index) at(s string, i int) *candidates {
	if i+1 == len(s) {
		return &x.last[s[i]]
	}
	return &x.lists[x.of[pairOf(s[i], s[i+1])]]
}

// kindIndex is made at the first use, which is the start of every run: 150 KB.
var kindIndex = sync.OnceValue(newIndex)

func newIndex() *index {
	x := &index{lists: make([]candidates, 1, 256)}
	outer, inner := kinds(), innerKinds()
	x.enter(outer, inner)
	for a := range 256 {
		x.last[a] = candidates{outer: outer[a], inner: inner[a]}
		if outer[a] != nil || inner[a] != nil {
			x.begin(byte(a), followed(outer[a]), followed(inner[a]))
		}
		if escape(byte(a)) {
			row := x.pairs[a<<8 : (a+1)<<8]
			for b := range row {
				row[b] |= pairBegins
			}
		}
	}
	return x
}

// enter marks the pairs whose second byte may begin a secret. Names within words begin with _ or,
// behind a small letter, a capital. So there are three kinds of a byte before.
func (x *index) enter(outer, inner *[256][]kind) {
	var apart, small, within [256]uint8
	for a := range 256 {
		first := byte(a)
		if !word(first) || outer[a] != nil {
			apart[a] = pairEnters
		}
		if !word(first) || inner[a] != nil && first == '_' {
			apart[a], within[a], small[a] = pairEnters, pairEnters, pairEnters
		}
		if inner[a] != nil {
			small[a] = pairEnters
		}
	}
	for before := range 256 {
		row := x.pairs[before<<8 : (before+1)<<8]
		switch {
		case !word(byte(before)):
			copy(row, apart[:])
		case isLower(byte(before)):
			copy(row, small[:])
		default:
			copy(row, within[:])
		}
	}
}

// begin marks the pairs with which a kind begins. Seconds that the same kinds may have share a
// list.
func (x *index) begin(first byte, outside, inside follows) {
	own := len(x.lists)
	var any byteSet
	for _, f := range slices.Concat(outside, inside) {
		for n, bits := range f.second {
			any[n] |= bits
		}
	}
	for b := range 256 {
		second := byte(b)
		if !any.has(second) {
			continue
		}
		n := own
		for ; n < len(x.lists) && !(outside.alike(second, x.lists[n].second) && inside.alike(second, x.lists[n].second)); n++ {
		}
		if n == len(x.lists) {
			c := candidates{second: second}
			c.outer = outside.having(second, &c.third)
			c.inner = inside.having(second, &c.third)
			x.lists = append(x.lists, c)
		}
		if n > math.MaxUint8 {
			panic("redact: kinds begin in more ways than a byte can count")
		}
		x.of[pairOf(first, second)] = uint8(n)
		x.pairs[pairOf(first, second)] |= pairBegins
	}
}

// escape reports what begins an escape, behind which a word may begin: \n, \u003d, %3D.
func escape(c byte) bool { return c == '\\' || c == '%' }

// afterEscape returns where a word begins behind the escape at i, or -1.
func afterEscape(s string, i int) int {
	for _, n := range []int{len(`\n`), len(`%3D`), len(`\u003d`)} {
		if at := i + n; at < len(s) && word(s[at]) && word(s[at-1]) && boundary(s, at) {
			return at
		}
	}
	return -1
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (b *byteSet) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

func (b *byteSet) add(c byte) { b[c>>6] |= 1 << (c & 63) }

// follows are kinds that begin with one byte, and which bytes each of them may have behind it. Each
// class of bytes is asked once for all pairs.
type follows []follow

type follow struct {
	kind          kind
	second, third byteSet
}

func followed(list []kind) follows {
	out := make(follows, len(list))
	for i, k := range list {
		out[i] = follow{kind: k, second: k.bytesAt(1), third: k.bytesAt(2)}
	}
	return out
}

// alike reports that the same kinds may have either byte as their second.
func (f follows) alike(a, b byte) bool {
	for i := range f {
		if f[i].second.has(a) != f[i].second.has(b) {
			return false
		}
	}
	return true
}

// having returns the kinds that may have a second byte, and adds to third what may stand behind it.
func (f follows) having(second byte, third *byteSet) (out []kind) {
	for i := range f {
		if !f[i].second.has(second) {
			continue
		}
		out = append(out, f[i].kind)
		for n, bits := range f[i].third {
			third[n] |= bits
		}
	}
	return out
}

// bytesAt are the bytes that a kind may have at a place from its beginning.
func (k *kind) bytesAt(place int) (set byteSet) {
	if len(k.prefix) > place {
		c := k.prefix[place]
		set.add(c)
		if k.fold && isLower(c) {
			set.add(c - 'a' + 'A')
		}
		return set
	}
	for c := range 256 {
		if k.rest == nil || k.rest(byte(c)) {
			set.add(byte(c))
		}
	}
	return set
}
