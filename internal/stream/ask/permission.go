// Package ask holds a session's questions to its user and their answers: permissions, and questions
// of the model. The terminal, editors, the web page and programs share these types.
//
// The one rule: a missing answer allows nothing.
//
// Start reading at Permission, then Question.
package ask

import (
	"errors"

	"adze/tool"
)

// A Permission asks whether a call may run.
type Permission struct {
	Question tool.Question
	// Resolved holds the real targets of needs that differ: the file behind a link, the host and
	// port in an address.
	Resolved map[tool.Need]string
	// Waiting counts further questions. It may be nil.
	Waiting func() int
	// Preview shows the call's effect.
	Preview []tool.Block
	// Offers holds the rules for more than this call, the narrowest first. If empty, only once is
	// possible. Usual is the preselected one.
	Offers []Offer
	Usual  int
	// NoOffer explains why there are no offers. It may be "".
	NoOffer string
	// Edits reports whether mode edits would allow this, so that all edits of the session can be
	// allowed.
	Edits bool
	// Why is a one-line reason for the question. It may be "".
	Why string
	// Problem explains why the last answer was not accepted.
	Problem string
}

// An Offer is a rule for this session.
type Offer struct {
	// Rule is its exact text; several rules are on separate lines.
	Rule string
	// Covers and Spares describe the allowed and the still asked cases. Saved describes the
	// additional cases once it is stored, and may be "".
	Covers, Spares, Saved string
	// Save is the file for storing it for all sessions, or "".
	Save string
}

// Choice is the user's choice.
type Choice uint8

// Choices. The zero value denies: a missing answer allows nothing.
const (
	Deny Choice = iota
	Once
	ForSession
	Always
	AllEdits // see Permission.Edits
)

// An Answer is the user's answer.
type Answer struct {
	Choice Choice
	// Offer is the index in Permission.Offers, for choices beyond once.
	Offer int
	// Reason goes to the model with a denial or with Refused. It may be "".
	Reason string
	// Text, with Once, replaces Question.Editing. If "", the call runs unchanged.
	Text string
	// Refused, with Once, holds the unwanted hunks of the preview, counted from 1, in order.
	Refused []int
	// Absent reports that nobody answered; the reason is not a user's.
	Absent bool
	// By is the origin of an answer from outside this window: a page, a device with its id and
	// name, or another process.
	By string
}

// ErrClosed means that nobody can answer any more.
var ErrClosed = errors.New("nobody to ask: the interface is closed")
