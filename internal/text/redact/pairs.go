package redact

import "sync"

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

// next returns the first place at or behind i, and before end, where a secret may begin or an escape
// stands; it returns the last byte of the text, or end, where there is none.
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
	outer []kind    // where a word begins, or with what is no part of a word
	inner []kind    // within a word
	third [4]uint64 // the bytes that one of them may have as its third
}

// find looks for a secret that begins at i: the span of the first kind that has one, or whether more
// text could make one, if the text has not ended.
func (c *candidates) find(s string, i int, ended bool) (found Span, open bool) {
	if i+2 < len(s) && c.third[s[i+2]>>6]>>(s[i+2]&63)&1 == 0 {
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
	of    [1 << 16]uint16 // where a pair's kinds stand in lists; 0 for none
	lists []candidates
	last  [256]candidates // by one byte: for the end of a text
}

func (x *index) at(s string, i int) *candidates {
	if i+1 == len(s) {
		return &x.last[s[i]]
	}
	return &x.lists[x.of[pairOf(s[i], s[i+1])]]
}

// kindIndex is made at the first use: 200 KB.
var kindIndex = sync.OnceValue(func() *index {
	x := &index{lists: make([]candidates, 1)}
	outer, inner := kinds(), innerKinds()
	for a := range 256 {
		first := byte(a)
		x.last[a] = candidates{outer: outer[a], inner: inner[a]}
		for b := range 256 {
			second := byte(b)
			c := candidates{outer: having(outer[a], 1, second), inner: having(inner[a], 1, second)}
			if c.outer != nil || c.inner != nil {
				for third := range 256 {
					if having(c.outer, 2, byte(third)) != nil || having(c.inner, 2, byte(third)) != nil {
						c.third[third>>6] |= 1 << (third & 63)
					}
				}
				x.of[pairOf(first, second)] = uint16(len(x.lists))
				x.lists = append(x.lists, c)
				x.pairs[pairOf(first, second)] |= pairBegins
			}
			if escape(first) {
				x.pairs[pairOf(first, second)] |= pairBegins
			}
			// As the byte before: names within words begin with _ or, behind a small letter, a capital.
			before := second
			if !word(first) || !word(before) && outer[a] != nil || inner[a] != nil && (first == '_' || isLower(before)) {
				x.pairs[pairOf(before, first)] |= pairEnters
			}
		}
	}
	return x
})

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

// having returns the kinds of a list that may have a byte at a place from their beginning.
func having(list []kind, place int, c byte) (out []kind) {
	for _, k := range list {
		switch {
		case len(k.prefix) > place && k.prefix[place] != c && !(k.fold && isUpper(c) && k.prefix[place] == c|0x20):
		case len(k.prefix) <= place && k.rest != nil && !k.rest(c):
		default:
			out = append(out, k)
		}
	}
	return out
}
