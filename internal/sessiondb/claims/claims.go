// Package claims compares an answer's statements about tests with the session's calls, by rules and
// without a model: "says that tests pass; none ran after the last edit". It also marks an answer's
// clauses that a call supports.
//
// The one rule: only certain doubts are reported. A sentence that asks, denies, quotes, supposes or
// plans claims nothing. Anything a call may have done without showing it in its record (a script, a
// subagent, a user's command) counts as done. A missed doubt costs little; a false alarm makes
// people stop reading.
//
// Start reading at Check. The answer becomes statements (statement.go), the calls become deeds
// (deeds.go), and evidence.go has the marks. Their vocabulary is in words.txt.
//
// Known limits: it reads only English. Statements in a table, or under a heading about plans, are
// skipped.
package claims

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"adze/session"
)

// A Turn is an answer and the session's calls.
type Turn struct {
	session.Answered
	// Delegates reports whether a tool's calls do more than their record shows, such as starting a
	// subagent.
	Delegates func(tool string) bool
}

// Configured uses of the findings; empty means shown.
const (
	Show = "show"
	Send = "send"
	Off  = "off"
)

// NewCheck returns a session's check. delegates are tools whose calls do more than their record
// shows.
func NewCheck(use string, delegates ...string) session.ClaimCheck {
	if use == Off {
		return session.ClaimCheck{}
	}
	does := func(name string) bool { return slices.Contains(delegates, name) }
	return session.ClaimCheck{Send: use == Send, Check: func(a session.Answered) ([]session.Claim, []session.Evidence) {
		return Check(Turn{Answered: a, Delegates: does})
	}}
}

// Check returns the answer's claims that the calls do not support, and the evidence for those they
// do, both in the answer's order.
func Check(t Turn) (doubted []session.Claim, shown []session.Evidence) {
	d := deedsOf(t)
	for _, s := range statements(t.Text) {
		if s.supposes() {
			continue
		}
		if why := d.doubts(s); why != "" && !slices.ContainsFunc(doubted, func(c session.Claim) bool { return c.Text == why }) {
			doubted = append(doubted, session.Claim{Kind: session.TestsClaim, Quote: s.quote(), Text: why})
		}
		shown = append(shown, d.shows(s)...)
	}
	return doubted, shown
}

// doubts returns the reason to doubt a statement that tests pass, or "". The statement holds if
// something that may have been tests ran after the last change of code and, if it is known to be
// only tests, did not fail.
func (d *effects) doubts(s statement) (why string) {
	if !s.saysTestsPass() || strings.Contains(strings.ToLower(d.asked), "pass") {
		return ""
	}
	edit := d.last(func(x effect) bool { return anyCode(x.changed) })
	test := d.last(func(x effect) bool { return x.opaque || x.mayTest() })
	switch {
	case test >= 0 && test >= edit:
		if x := d.all[test]; !x.opaque && x.testsFailed() {
			return fmt.Sprintf("says that tests pass; the last run of them failed: %s", x.commands[0])
		}
		return ""
	case edit >= 0:
		return "says that tests pass; none ran after the last edit"
	case d.partial:
		return ""
	}
	return "says that tests pass; none ran"
}

// testsFailed reports whether the deed's commands are all tests and failed or print a failure.
func (x effect) testsFailed() bool {
	tests := 0
	for _, c := range x.commands {
		for _, words := range simple(c) {
			if isTest(words) {
				tests++
			} else if !in("looking")[words[0]] {
				return false
			}
		}
		if strings.Contains(c, "||") {
			return false
		}
	}
	return tests > 0 && (x.exit || failures().MatchString(x.output))
}

func failures() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(FAIL\b|--- FAIL|not ok \d|(=+ |Tests: +)?[1-9]\d* (tests? )?failed\b)`)
}

// anyCode reports whether tests may depend on one of the changed files.
func anyCode(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return !slices.Contains([]string{".md", ".txt", ".rst", ".adoc"}, strings.ToLower(path.Ext(n)))
	})
}

// saysTestsPass matches "all 12 tests now pass", "the test suite is green", "tests: passing" or
// "`go test ./...` passes", but not a verb with an object, such as tests that pass a value.
func (s statement) saysTestsPass() bool {
	for i, t := range s.tokens {
		if t.kind != word || !in("passes")[t.word] {
			continue
		}
		if denies(s.clause(i)) || containsAny(s.tokens, in("elsewhere")) {
			return false
		}
		if subjectIsTests(s.tokens[:i], t.word) && endsWell(s.tokens[i+1:]) {
			return true
		}
	}
	return false
}

func subjectIsTests(before []token, verb string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		t := before[i]
		switch {
		case t.kind == span:
			all := simple(t.word)
			return len(all) == 1 && isTest(all[0]) && verb != "pass"
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

// ordered reports words that turn the rest into a wish: "make the tests", "get all tests".
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

func isNumber(w string) bool { return w != "" && strings.Trim(w, "0123456789/%,.") == "" }
