package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

// machine matches a program like regexp, but with word boundaries between Unicode characters, which
// regexp has only for ASCII. It tracks all possible matches by preference, so its time is at most
// text length times program size. It is used for patterns with \b or \B in non-ASCII text.
type machine struct {
	prog    *syntax.Prog
	group   int
	threads []thread
	next    []thread
	mark    []int // by instruction: last round that visited it
	round   int
}

// thread is a position in the program with its match and group bounds.
type thread struct {
	pc   uint32
	caps [4]int
}

func newMachine(prog *syntax.Prog, group int) *machine {
	return &machine{prog: prog, group: group, mark: make([]int, len(prog.Inst))}
}

// find returns the position of the first match, or of its group.
func (m *machine) find(text []byte) (from, to int, ok bool) { return m.within(text, 0, len(text)) }

// within finds a match that begins between two offsets, taking the text before into account.
func (m *machine) within(text []byte, first, last int) (from, to int, ok bool) {
	var best [4]int
	m.threads = m.threads[:0]
	before := rune(-1)
	if first > 0 {
		before, _ = utf8.DecodeLastRune(text[:first])
	}
	for at := first; ; {
		r, size := rune(-1), 0
		if at < len(text) {
			r, size = utf8.DecodeRune(text[at:])
		}
		m.round++
		m.next = m.next[:0]
		holds := boundaries(before, r)
		for _, t := range m.threads {
			m.follow(t, at, holds)
		}
		if !ok && at <= last {
			m.follow(thread{pc: uint32(m.prog.Start), caps: [4]int{at, -1, -1, -1}}, at, holds)
		}
		m.threads, m.next = m.next, m.threads[:0]
		for i, t := range m.threads {
			if m.prog.Inst[t.pc].Op == syntax.InstMatch {
				best, ok = t.caps, true
				best[1] = at
				m.threads = m.threads[:i] // the rest is less preferred
				break
			}
		}
		if size == 0 || len(m.threads) == 0 && (ok || at >= last) {
			break
		}
		m.step(r)
		before, at = r, at+size
	}
	if m.group > 0 {
		return best[2], best[3], ok
	}
	return best[0], best[1], ok
}

func (m *machine) step(r rune) {
	kept := m.threads[:0]
	for _, t := range m.threads {
		in := &m.prog.Inst[t.pc]
		if in.Op != syntax.InstMatch && accepts(in, r) {
			kept = append(kept, thread{in.Out, t.caps})
		}
	}
	m.threads = kept
}

// follow adds all positions reached without a character, preferred ones first.
func (m *machine) follow(t thread, at int, holds syntax.EmptyOp) {
	if m.mark[t.pc] == m.round {
		return
	}
	m.mark[t.pc] = m.round
	in := &m.prog.Inst[t.pc]
	switch in.Op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		m.follow(thread{in.Out, t.caps}, at, holds)
		m.follow(thread{in.Arg, t.caps}, at, holds)
	case syntax.InstNop:
		m.follow(thread{in.Out, t.caps}, at, holds)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^holds == 0 {
			m.follow(thread{in.Out, t.caps}, at, holds)
		}
	case syntax.InstCapture:
		if m.group > 0 && int(in.Arg)/2 == m.group {
			t.caps[2+in.Arg%2] = at
		}
		m.follow(thread{in.Out, t.caps}, at, holds)
	default:
		m.next = append(m.next, t)
	}
}

// boundaries returns the assertions that hold between two characters; -1 is the text's end.
func boundaries(before, after rune) syntax.EmptyOp {
	var holds syntax.EmptyOp
	if before < 0 {
		holds |= syntax.EmptyBeginText
	}
	if before < 0 || before == '\n' {
		holds |= syntax.EmptyBeginLine
	}
	if after < 0 {
		holds |= syntax.EmptyEndText
	}
	if after < 0 || after == '\n' {
		holds |= syntax.EmptyEndLine
	}
	if isWord(before) != isWord(after) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}

func hasBoundary(prog *syntax.Prog) bool {
	return asserts(prog, syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary)
}

// asserts reports whether a program contains one of the given assertions.
func asserts(prog *syntax.Prog, any syntax.EmptyOp) bool {
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&any != 0 {
			return true
		}
	}
	return false
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
