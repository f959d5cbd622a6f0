package redact

import (
	"math"
	"slices"
	"sync"
)

// pairTable records for each pair of bytes whether a secret may begin there, so that scanning takes
// one lookup per byte. 64 KB.
type pairTable [1 << 16]uint8

// Flags for a pair of bytes.
const (
	pairEnters = 1 << iota // the byte before a secret and its first: a space and an s
	pairBegins             // a kind's first two bytes: s and k
	pairValue              // a known value's first two bytes
)

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// next returns the first offset in [i, end) where a secret may begin or an escape stands; without
// one, the text's last byte or end.
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
	outer []kind  // at a word start, or beginning with a non-word byte
	inner []kind  // within a word
	third byteSet // possible third bytes

	second byte // one possible second byte
}

// find looks for a secret at i. It returns the first kind's span; open means that more text could
// complete one, which ended rules out.
func (c *candidates) find(s string, i int, ended bool) (found Span, open bool) {
	if i+2 < len(s) && !c.third.has(s[i+2]) {
		return Span{}, false // the usual case
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

type index struct {
	pairs pairTable
	of    [1 << 16]uint8 // a pair's index in lists; 0 for none
	lists []candidates
	last  [256]candidates // by one byte, for the text's end
}

func (x *index) at(s string, i int) *candidates {
	if i+1 == len(s) {
		return &x.last[s[i]]
	}
	return &x.lists[x.of[pairOf(s[i], s[i+1])]]
}

// kindIndex is built on first use, at the start of every run: 150 KB.
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

// enter marks the pairs whose second byte may begin a secret. Names within words begin with _ or
// with a capital after a small letter, so there are three classes of preceding bytes.
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

// begin marks the pairs that begin a kind. Second bytes with the same kinds share a list.
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

// escape reports whether c may begin an escape, after which a word may start: \n, \u003d, %3D.
func escape(c byte) bool { return c == '\\' || c == '%' }

// afterEscape returns where a word begins after the escape at i, or -1.
func afterEscape(s string, i int) int {
	for _, n := range []int{len(`\n`), len(`%3D`), len(`\u003d`)} {
		if at := i + n; at < len(s) && word(s[at]) && word(s[at-1]) && boundary(s, at) {
			return at
		}
	}
	return -1
}

type byteSet [4]uint64

func (b *byteSet) has(c byte) bool { return b[c>>6]>>(c&63)&1 != 0 }

func (b *byteSet) add(c byte) { b[c>>6] |= 1 << (c & 63) }

// follows are the kinds with one first byte, with their possible second bytes. Each class is
// evaluated once for all pairs.
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

// alike reports whether the same kinds allow either byte as their second.
func (f follows) alike(a, b byte) bool {
	for i := range f {
		if f[i].second.has(a) != f[i].second.has(b) {
			return false
		}
	}
	return true
}

// having returns the kinds that allow a second byte, and adds their possible third bytes to third.
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

// bytesAt returns the bytes that a kind allows at an offset.
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
