package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// dfa decides whether a line matches, without captures or the leftmost rule. A state is a set of
// instructions; states and transitions are computed when first reached. ASCII transitions are in a
// table, others in a small cache. It is used by one worker.
type dfa struct {
	prog     *syntax.Prog
	anchored bool // a match can only begin where the line begins
	words    bool // \b or \B occur, so the previous byte matters
	lines    bool // "^" matches at every line start

	next   []int32    // transitions, by state and column; 0 if not computed
	wide   []wideStep // non-ASCII transitions, by hash
	states []dfaState
	ids    map[string]int32
	resets int

	mark  []uint32 // by instruction: last closure that visited it
	round uint32
	stack []uint32
	key   []byte
}

// dfaState holds the instructions between two bytes.
type dfaState struct {
	set    []uint32
	before byteKind
}

// wideStep is a non-ASCII transition; the zero value is an empty slot.
type wideStep struct {
	state int32
	r     rune
	next  int32
}

// wideSteps is the cache size, a power of two.
const wideSteps = 1 << 10

const (
	// columns are the ASCII bytes and the end of the line.
	columns   = utf8.RuneSelf + 1
	endColumn = utf8.RuneSelf
	endOfLine = rune(-1)

	// A state's number is its first column's index in the table, so a transition is one lookup.
	// Three states have no columns.
	stateUnknown = 0
	stateMatch   = 1
	stateDead    = 2 // no match possible
	stateStart   = 3 * columns

	// maxStates bounds a dfa's memory to about half a megabyte. A pattern that needs more is reset,
	// and after maxResets left to regexp.
	maxStates = 1000
	maxResets = 8
	// maxProg is the number of instructions above which states cost too much.
	maxProg = 4000
)

// newDFA returns nil if the pattern is too large.
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

// reset drops all states but the start state.
func (d *dfa) reset() {
	d.ids = map[string]int32{}
	clear(d.wide)
	d.next = make([]int32, stateStart+columns)
	start := dfaState{set: []uint32{uint32(d.prog.Start)}, before: kindNone}
	d.states = append(d.states[:0], dfaState{}, dfaState{}, dfaState{}, start)
}

// line reports whether a line matches; known is false if it cannot decide.
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

// rest continues from state in a line that is not all ASCII.
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

func (d *dfa) end(state int32) (matches, known bool) {
	next := d.next[int(state)+endColumn]
	if next == stateUnknown {
		next = d.step(state, endOfLine)
	}
	return next == stateMatch, next != stateUnknown
}

// beyond returns the transition for a non-ASCII character.
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

// step computes a transition. It returns stateUnknown if there are too many states: regexp then
// matches the current line, and the next one starts with no states.
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

// closure follows all instructions that consume nothing and returns those that consume a byte.
func (d *dfa) closure(from dfaState, holds syntax.EmptyOp) (open []uint32, matched bool) {
	d.round++
	d.stack = append(d.stack[:0], from.set...)
	if !d.anchored && from.before != kindNone {
		d.stack = append(d.stack, uint32(d.prog.Start)) // a match may also begin here
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
