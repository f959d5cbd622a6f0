// Package ask holds what a session asks its user, and the answers: whether a call may go on, and
// what the model wants to know. The terminal, editors, the page and programs ask in these words.
//
// The one rule: an answer that nobody gave allows nothing.
//
// Start reading at Permission, then Question.
package ask

import (
	"errors"

	"adze/tool"
)

// Permission asks whether a call may go on.
type Permission struct {
	Question tool.Question
	// Resolved says what needs really are, where that is not what stands there: the file behind a
	// link, the host and port of an address.
	Resolved map[tool.Need]string
	// Waiting counts the questions that wait behind this one; if nil, none is known.
	Waiting func() int
	// Preview shows what the call would do.
	Preview []tool.Block
	// Offers are what may be allowed for longer than once, the narrowest first; none: only once is
	// offered. Usual is the one that is shown first.
	Offers []Offer
	Usual  int
	// NoOffer says in words why no rule is offered; it may be empty.
	NoOffer string
	// Edits says that the mode edits would allow this: all edits of the session can be allowed.
	Edits bool
	// Why says in one line why this is asked; may be empty.
	Why string
	// Problem says why it is asked once more: the answer before could not be followed.
	Problem string
}

// Offer is a rule that would be added for this session.
type Offer struct {
	// Rule is exactly that; several stand in lines.
	Rule string
	// Covers and Spares say what it allows, and what is asked all the same. Saved says what it allows
	// beyond that once it is kept; it may be empty.
	Covers, Spares, Saved string
	// Save is the file in which it can be kept for all sessions; if empty, that is not offered.
	Save string
}

// Choice is what the user chose.
type Choice uint8

// Choices. The zero value denies: an answer that was never given allows nothing.
const (
	Deny Choice = iota
	Once
	ForSession
	Always
	AllEdits // Permission.Edits
)

// Answer is a user's answer.
type Answer struct {
	Choice Choice
	// Offer is the one that was shown, of Permission.Offers, where the choice is for longer than once.
	Offer int
	// Reason goes to the model with a denial, or with Refused; it may be empty.
	Reason string
	// Text, with Once, is what Question.Editing is to be instead; if empty, the call runs as it was
	// made.
	Text string
	// Refused, with Once, are the hunks of the preview that are not wanted, counted from 1, in
	// order.
	Refused []int
	// Absent says that nobody answered: the reason is nobody's word.
	Absent bool
	// By says from where a user answered, if not in this window: a page, a device by its id and
	// name, or another process.
	By string
}

// ErrClosed says that nobody can answer any more.
var ErrClosed = errors.New("nobody to ask: the interface is closed")
