// Package claims compares what an answer says was done with what the calls of the session did, by
// rules and without a model: "says that tests pass; none ran after the last edit".
//
// The one rule: a note is only made of what is sure. A sentence that asks, denies, quotes, supposes
// or plans claims nothing; what a call may have done in a way that its record does not show (a
// script, a subagent, a command of the user's) counts as done. What is missed costs little; a
// false alarm makes people stop reading.
//
// Start reading at Check. The answer becomes statements (markdown.go, statement.go), the calls
// become deeds (deeds.go), and each kind of claim is one file: tests.go, changed.go, ran.go,
// named.go, done.go. The words that they look for are in words.txt.
//
// Known limits: it reads English. A statement in a table of more than two columns, or under a
// heading that plans, is left.
package claims

import (
	"slices"

	"adze/session"
)

// Turn is an answer and what can be known about it.
type Turn struct {
	session.Answered
	// Delegates reports a tool whose calls do more than their own record shows, such as one that
	// starts a subagent.
	Delegates func(tool string) bool
	// Exists reports whether there is a file of this name, at it or anywhere below the working
	// directory; if nil, nobody looks.
	Exists func(path string) bool
}

// How what was found is used, as the configuration says; if empty, shown.
const (
	Show = "show"
	Send = "send"
	Off  = "off"
)

// Of is the check for sessions in a folder. delegates are tools whose calls do more than their own
// record shows.
func Of(dir, use string, delegates ...string) session.ClaimCheck {
	if use == Off {
		return session.ClaimCheck{}
	}
	does := func(name string) bool { return slices.Contains(delegates, name) }
	return session.ClaimCheck{Send: use == Send, Check: func(a session.Answered) ([]session.Claim, []session.Evidence) {
		return Check(Turn{Answered: a, Delegates: does, Exists: Below(dir)})
	}}
}

// mostNotes bounds what is said of one answer.
const mostNotes = 5

// Check is what the answer claims and the calls do not show, and what they show, both in the order
// of the answer. It is pure but for Exists.
func Check(t Turn) ([]session.Claim, []session.Evidence) {
	w := work{deeds: deedsOf(t), turn: t}
	all := statements(t.Text)
	return w.claimsOf(all), w.shownOf(all)
}

func (w *work) claimsOf(all []statement) (out []session.Claim) {
	for _, s := range all {
		if s.supposes() {
			continue
		}
		for _, rule := range []func(*work, statement) []session.Claim{tests, changed, ran, named, done} {
			for _, c := range rule(w, s) {
				same := func(o session.Claim) bool { return o.Kind == c.Kind && o.Text == c.Text }
				if len(out) < mostNotes && !slices.ContainsFunc(out, same) {
					c.Quote = s.quote()
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// work is what rules look things up in.
type work struct {
	deeds
	turn Turn
}
