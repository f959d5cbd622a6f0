package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// dfa answers whether a line matches, and nothing else: no captures, no leftmost rule. A state is a
// set of the regexp's instructions; it and its transitions are worked out when a line first leads
// there. Those of ASCII stand in a table, the others in a small cache. It belongs to one worker.
type dfa struct {
	prog     *syntax.Prog
	anchored bool // a match can only begin where the line does
	words    bool // \b or \B occur, so the byte before counts
	lines    bool // "^" is the start of any line of a text

	next   []int32    // by column, of one state after another; if 0, not yet known
	wide   []wideStep // of characters beyond ASCII, by a hash
	states []dfaState
	ids    map[string]int32
	resets int

	mark  []uint32 // by instruction: the last closure that met it
	round uint32
	stack []uint32
	key   []byte
}

// dfaState is where the search for a match stands between two bytes.
type dfaState struct {
	set    []uint32
	before byteKind
}

// wideStep is one transition by a character beyond ASCII; the zero value is none.
type wideStep struct {
	state int32
	r     rune
	next  int32
}

// wideSteps is the size of the cache: a power of two.
const wideSteps = 1 << 10

const (
	// columns are the ASCII bytes and the end of the line.
	columns   = utf8.RuneSelf + 1
	endColumn = utf8.RuneSelf
	endOfLine = rune(-1)

	// A state is named by where its columns begin in the table, so that a transition is one look;
	// three have none.
	stateUnknown = 0
	stateMatch   = 1
	stateDead    = 2 // no match any more
	stateStart   = 3 * columns

	// maxStates bounds the memory of one dfa to about half a megabyte. A pattern that needs more is
	// started afresh, and after maxResets left to regexp.
	maxStates = 1000
	maxResets = 8
	// maxProg is the size of a pattern, in instructions, beyond which a state costs too much.
	maxProg = 4000
)

// newDFA returns nil for a pattern that is too large.
func newDFA(prog *syntax.Prog) *dfa {
	if prog == nil || len(prog.Inst) > maxProg {
		return nil
	}
	d := &dfa{
		prog: prog, mark: make([]uint32, len(prog.Inst)),
		anchored: prog.StartCond()&syntax.EmptyBeginText != 0,
	}
	d.words = hasBoundary(prog)
	d.lines = asserts(prog, syntax.EmptyBeginLine)
	d.reset()
	return d
}

// reset forgets all states but the one a line begins in.
func (d *dfa) reset() {
	d.ids = map[string]int32{}
	clear(d.wide)
	d.next = make([]int32, stateStart+columns)
	start := dfaState{set: []uint32{uint32(d.prog.Start)}, before: kindNone}
	d.states = append(d.states[:0], dfaState{}, dfaState{}, dfaState{}, start)
}

// line reports whether a line matches; known is false when it cannot tell.
func (d *dfa) line(line []byte) (matches, known bool) {
	state, table := int32(stateStart), d.next
	for i, b := range line {
		if b >= utf8.RuneSelf {
			return d.rest(state, line[i:])
		}
		next := table[uint32(state)+uint32(b)]
		if next <= stateDead {
			if next == stateUnknown {
				next = d.step(state, rune(b))
				table = d.next
			}
			if next <= stateDead {
				return next == stateMatch, next != stateUnknown
			}
		}
		state = next
	}
	return d.end(state)
}

// rest goes on from a state in a line that is not all ASCII.
func (d *dfa) rest(state int32, line []byte) (matches, known bool) {
	for i := 0; i < len(line); {
		next, size := int32(stateUnknown), 1
		if b := line[i]; b >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRune(line[i:])
			next = d.beyond(state, r)
		} else if next = d.next[int(state)+int(b)]; next == stateUnknown {
			next = d.step(state, rune(b))
		}
		if next <= stateDead {
			return next == stateMatch, next != stateUnknown
		}
		state = next
		i += size
	}
	return d.end(state)
}

// end concludes at the end of a line.
func (d *dfa) end(state int32) (matches, known bool) {
	next := d.next[int(state)+endColumn]
	if next == stateUnknown {
		next = d.step(state, endOfLine)
	}
	return next == stateMatch, next != stateUnknown
}

// beyond is the transition by a character beyond ASCII.
func (d *dfa) beyond(state int32, r rune) int32 {
	if d.wide == nil {
		d.wide = make([]wideStep, wideSteps)
	}
	at := (uint32(r)*31 + uint32(state)*2654435761) % wideSteps
	if w := d.wide[at]; w.state == state && w.r == r {
		return w.next
	}
	next := d.step(state, r)
	if next != stateUnknown {
		d.wide[at] = wideStep{state, r, next}
	}
	return next
}

// step works out one transition. It returns stateUnknown when there are too many states: the line
// at hand is then for regexp, and the next one starts afresh.
func (d *dfa) step(state int32, r rune) int32 {
	if len(d.states) >= maxStates {
		d.resets++
		d.reset()
		return stateUnknown
	}
	from := d.states[state/columns]
	after := kindOf(r)
	open, matched := d.closure(from, assertions(from.before, after))
	next := int32(stateDead)
	switch {
	case matched:
		next = stateMatch
	case r != endOfLine:
		next = d.state(d.consume(open, r), after)
	}
	switch {
	case r == endOfLine:
		d.next[int(state)+endColumn] = next
	case r < utf8.RuneSelf:
		d.next[int(state)+int(r)] = next
	}
	return next
}

// closure follows everything that needs no byte. It returns the instructions that do.
func (d *dfa) closure(from dfaState, holds syntax.EmptyOp) (open []uint32, matched bool) {
	d.round++
	d.stack = append(d.stack[:0], from.set...)
	if !d.anchored && from.before != kindNone {
		d.stack = append(d.stack, uint32(d.prog.Start)) // a match may begin here, too
	}
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.mark[pc] == d.round {
			continue
		}
		d.mark[pc] = d.round
		in := &d.prog.Inst[pc]
		switch in.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				d.stack = append(d.stack, in.Out)
			}
		case syntax.InstFail:
		default:
			open = append(open, pc)
		}
	}
	return open, false
}

// consume returns what follows the instructions that accept a byte.
func (d *dfa) consume(open []uint32, r rune) []uint32 {
	var set []uint32
	for _, pc := range open {
		if in := &d.prog.Inst[pc]; accepts(in, r) {
			set = append(set, in.Out)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func accepts(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return in.MatchRune(r)
}

// state returns the number of a state, new or known.
func (d *dfa) state(set []uint32, before byteKind) int32 {
	if len(set) == 0 && d.anchored {
		return stateDead
	}
	if before == kindBreak && !d.lines || before == kindWord && !d.words {
		before = kindOther
	}
	d.key = append(d.key[:0], byte(before))
	for _, pc := range set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if id, ok := d.ids[string(d.key)]; ok {
		return id
	}
	id := int32(len(d.states) * columns)
	d.ids[string(d.key)] = id
	d.states = append(d.states, dfaState{set, before})
	d.next = append(d.next, make([]int32, columns)...)
	return id
}
