// Package claims compares an answer's statements about tests with the session's calls, by rules and
// without a model: "says that tests pass; none ran after the last edit". It also marks an answer's
// clauses that a call supports.
//
// The one rule: only certain doubts are reported. A sentence that asks, denies, quotes, supposes or
// plans claims nothing. Anything a call may have done without showing it in its record (a script, a
// subagent, a user's command) counts as done. A missed doubt costs little; a false alarm makes
// people stop reading.
//
// Start reading at Check. The answer becomes clauses (statement.go), the calls become effects
// (deeds.go), and evidence.go has the marks. Their vocabulary is in words.txt.
//
// Known limits: it reads only English. Statements in a table, or under a heading about plans, are
// skipped.
package claims

import (
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
	d := effectsOf(t)
	for _, b := range blocks(t.Text) {
		lead := tokens(b.lead)
		for _, s := range sentences(tokens(b.text)) {
			if s.has("hypothetical") || lead.has("planning") || s[0].in("orders") {
				continue // a condition, plan, advice or order
			}
			if why := d.doubts(s); why != "" && !slices.ContainsFunc(doubted, func(c session.Claim) bool { return c.Text == why }) {
				doubted = append(doubted, session.Claim{Kind: session.TestsClaim, Quote: s.quote(), Text: why})
			}
			if !lead.denies() {
				shown = append(shown, d.shows(s)...)
			}
		}
	}
	return doubted, shown
}

// doubts returns the reason to doubt a statement that tests pass, or "". The statement holds if
// something that may have been tests ran after the last change of code and, if it is known to be
// only tests, did not fail.
func (d *effects) doubts(s clause) (why string) {
	if !s.saysTestsPass() || strings.Contains(strings.ToLower(d.asked), "pass") {
		return ""
	}
	edit := d.last(func(x effect) bool { return anyCode(x.changed) })
	test := d.last(effect.mayTest)
	switch {
	case test >= 0 && test >= edit:
		x, how := d.all[test], "of them failed"
		if !x.testsFailed() {
			return ""
		}
		if regexp.MustCompile(`(?m)^(=+ )?(no tests ran|[1-9]\d* deselected in|No tests? (files )?found)`).MatchString(x.output) {
			how = "found none"
		}
		return "says that tests pass; the last run " + how + ": " + x.commands[0]
	case edit >= 0:
		return "says that tests pass; none ran after the last edit"
	case d.partial:
		return ""
	}
	return "says that tests pass; none ran"
}

// testsFailed reports whether the call's commands are all tests and failed or print a failure.
func (x effect) testsFailed() bool {
	tests := 0
	for _, c := range x.commands {
		for _, words := range simple(c) {
			if isTest(words) {
				tests++
			} else if !token(words[0]).in("looking") && words[0] != "tee" {
				return false
			}
		}
		if strings.Contains(c, "||") {
			return false
		}
	}
	return tests > 0 && !x.opaque && (x.exit || failures().MatchString(x.output))
}

func failures() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(FAIL\b|--- FAIL|not ok \d|[#ℹ] fail [1-9]|(=+ |Tests: +)?[1-9]\d* (tests? )?failed\b)`)
}

// anyCode reports whether tests may depend on one of the changed files.
func anyCode(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return !slices.Contains([]string{".md", ".txt", ".rst", ".adoc"}, strings.ToLower(path.Ext(n)))
	})
}

// saysTestsPass matches "all 12 tests now pass", "the test suite is green", "tests: passing" or
// "`go test ./...` passes", but not a verb with an object, such as tests that pass a value.
func (c clause) saysTestsPass() bool {
	if c.has("elsewhere") || slices.ContainsFunc(c.clauses(), func(part clause) bool { return part.has("passes") && part.denies() }) {
		return false
	}
	for i, t := range c {
		if !t.in("passes") {
			continue
		}
		after := c[i+1:]
		ends := len(after) == 0 || after[0].mark() != "" || after[0].in("behind") || after[0] == "in" && len(after) > 1 && after[1][0] >= '0' && after[1][0] <= '9'
		if ends && c[:i].endsInTests(strings.EqualFold(string(t), "pass")) {
			return true
		}
	}
	return false
}

// endsInTests reports whether the words before a verb end in its subject, tests.
func (c clause) endsInTests(plural bool) bool {
	for i, t := range slices.Backward(c) {
		one, many := t.in("test"), t.in("tests")
		switch code := t.code(); {
		case code != "":
			all := simple(code)
			return len(all) == 1 && isTest(all[0]) && !plural
		case one || many:
			return (many && !(i+1 < len(c) && c[i+1] == "to") || one && !plural) && !c[:i].ordered()
		case t.mark() == "(" || t.mark() == ")" || i == len(c)-1 && (t.mark() == ":" || t.mark() == ","), t.in("between"), isNumber(t):
		default:
			return false
		}
	}
	return false
}

// ordered reports words that turn the rest into a wish: "make the tests", "get all tests".
func (c clause) ordered() bool {
	for i := len(c) - 1; i >= 0 && i >= len(c)-4; i-- {
		if c[i].in("ordered") {
			return !(strings.EqualFold(string(c[i]), "that") && i > 0 && c[i-1].in("verified"))
		}
	}
	return false
}
