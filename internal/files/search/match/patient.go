package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxPatient bounds the states of a dfa that may not give up, by the instructions they are made of.
const maxPatient = 1 << 19

// newPatientDFA is a dfa for text that is gone once it was seen, so that nobody else can be asked:
// it takes a pattern of any size, and when it has too many states it forgets all but the one it is
// in.
func newPatientDFA(prog *syntax.Prog) *dfa {
	if prog == nil {
		return nil
	}
	d := makeDFA(prog)
	d.most = max(16, min(maxStates, maxPatient/len(prog.Inst)))
	return d
}

// feed goes on from a state through a part of a line, which ends with a whole character. It returns
// the state it led to and, with stateMatch or stateDead, after how many bytes that was known.
func (d *dfa) feed(state int32, part []byte) (next int32, used int) {
	for i := 0; i < len(part); {
		if b := part[i]; b < utf8.RuneSelf {
			if next = d.next[int(state)+int(b)]; next == stateUnknown {
				next = d.onward(state, rune(b))
			}
			if next <= stateDead {
				return next, i
			}
			state = next
			i++
			continue
		}
		r, size := utf8.DecodeRune(part[i:])
		if next = d.onward(state, r); next <= stateDead {
			return next, i
		}
		state = next
		i += size
	}
	return state, len(part)
}

// onward is one transition, whatever has to be forgotten for it.
func (d *dfa) onward(state int32, r rune) int32 {
	at := d.states[state/columns]
	if next := d.transition(state, r); next != stateUnknown {
		return next
	}
	return d.transition(d.again(state, at), r)
}

// again gives a state that may have been forgotten its number.
func (d *dfa) again(state int32, at dfaState) int32 {
	if state <= stateStart {
		return state
	}
	return d.state(at.set, at.before)
}

func (d *dfa) transition(state int32, r rune) int32 {
	if r < utf8.RuneSelf {
		return d.step(state, r)
	}
	return d.beyond(state, r)
}

// ends reports a match at the end of a line, or, where returns, if it had one character \r more.
func (d *dfa) ends(state int32, returns bool) bool {
	if state <= stateDead {
		return state == stateMatch
	}
	at := d.states[state/columns]
	if d.onward(state, endOfLine) == stateMatch {
		return true
	}
	return returns && d.ends(d.onward(d.again(state, at), '\r'), false)
}
