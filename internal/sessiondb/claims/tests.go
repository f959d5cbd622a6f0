package claims

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/session"
)

// tests finds a statement that tests pass. It holds where something ran after the last change of
// code that may have been tests; where that was one command known for tests, it must not have
// failed.
func tests(w *work, s statement) []session.Claim {
	if !saysTestsPass(s) || strings.Contains(strings.ToLower(w.asked), "pass") {
		return nil
	}
	edit, test := -1, -1
	for i, d := range w.all {
		if anyCode(d.changed) {
			edit = i
		}
		if d.opaque || ranTests(d) {
			test = i
		}
	}
	switch {
	case test >= 0 && test >= edit:
		if d := w.all[test]; !d.opaque && d.exit && len(d.commands) == 1 && isTest(d.commands[0]) {
			return claim(session.TestsClaim, "says that tests pass; the last run of them failed: %s", d.commands[0])
		}
		return nil
	case edit >= 0:
		return claim(session.TestsClaim, "says that tests pass; none ran after the last edit")
	case w.partial:
		return nil
	}
	return claim(session.TestsClaim, "says that tests pass; none ran")
}

func ranTests(d deed) bool {
	if slices.ContainsFunc(d.commands, mayTest) {
		return true
	}
	for _, name := range d.read { // a log of a run elsewhere
		switch path.Ext(name) {
		case ".log", ".txt", ".xml", ".out":
			return true
		}
	}
	return false
}

// anyCode reports a changed file that tests may depend on.
func anyCode(names []string) bool {
	for _, n := range names {
		switch strings.ToLower(path.Ext(n)) {
		case ".md", ".txt", ".rst", ".adoc":
		default:
			return true
		}
	}
	return false
}

func claim(k session.ClaimKind, text string, args ...any) []session.Claim {
	return []session.Claim{{Kind: k, Text: fmt.Sprintf(text, args...)}}
}

// saysTestsPass reads "all 12 tests now pass", "the test suite is green", "tests: passing", "`go
// test ./...` passes", "passes all tests". What follows the verb must not make the tests hand
// something over.
func saysTestsPass(s statement) bool {
	for i, t := range s.tokens {
		if !passes(s, i) {
			continue
		}
		c := s.clause(i)
		if denies(c) || has(s.tokens, in("elsewhere")) {
			return false
		}
		if subjectIsTests(s.tokens[:i], t.word) && endsWell(s.tokens[i+1:]) || objectIsTests(t.word, s.tokens[i+1:]) {
			return true
		}
	}
	return false
}

func passes(s statement, at int) bool {
	return has(s.tokens[at:at+1], in("passes"))
}

func subjectIsTests(before []token, verb string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		t := before[i]
		switch {
		case t.kind == span:
			return isTest(t.word) && verb != "pass"
		case t.kind == sign && (t.word == ":" || t.word == ",") && i == len(before)-1, t.kind == sign && (t.word == "(" || t.word == ")"):
		case t.kind == sign:
			return false
		case t.word == "tests" || t.word == "specs" || t.word == "testsuite":
			return !ordered(before[:i]) && !(i+1 < len(before) && before[i+1].word == "to")
		case t.word == "test" || t.word == "suite":
			return verb != "pass" && !ordered(before[:i])
		case in("between")[t.word] || isNumber(t.word):
		default:
			return false
		}
	}
	return false
}

// ordered reports words that make what follows a wish: "make the tests", "get all tests".
func ordered(before []token) bool {
	for i := len(before) - 1; i >= 0 && i >= len(before)-4; i-- {
		if in("ordered")[before[i].word] {
			return !(before[i].word == "that" && i > 0 && in("verified")[before[i-1].word])
		}
	}
	return false
}

func endsWell(after []token) bool {
	if len(after) == 0 || after[0].kind == sign || in("behind")[after[0].word] {
		return true
	}
	return after[0].word == "in" && len(after) > 1 && len(after[1].word) > 0 && after[1].word[0] >= '0' && after[1].word[0] <= '9'
}

// objectIsTests reads "passes all 24 tests".
func objectIsTests(verb string, after []token) bool {
	if verb != "passes" && verb != "passed" {
		return false
	}
	for _, t := range after {
		switch {
		case t.kind != word:
			return false
		case t.word == "tests":
			return true
		case !in("between")[t.word] && !isNumber(t.word):
			return false
		}
	}
	return false
}

func isNumber(w string) bool { return w != "" && strings.Trim(w, "0123456789/%,.") == "" }
