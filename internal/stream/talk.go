package stream

import (
	"errors"

	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// A Question is sent to the controlling program. It waits until an answer arrives, or the turn or
// stdin ends.
type Question struct {
	Type     string      `json:"type"`     // question
	Question string      `json:"question"` // its name
	Kind     string      `json:"kind"`
	Call     tool.CallID `json:"call,omitempty"`
	Agent    string      `json:"agent,omitempty"`
	Name     string      `json:"name,omitempty"` // the tool's
	Title    string      `json:"title,omitempty"`
	Text     string      `json:"text,omitempty"`
	Choices  []string    `json:"choices"`
	Needs    []Need      `json:"need,omitempty"`
	Offers   []Offer     `json:"offers,omitempty"`
	// Editable is the text that an answer may rewrite, or "".
	Editable string `json:"editable,omitempty"`
	// Hunks reports whether an answer may refuse hunks of the preview by number, from 1.
	Hunks   bool         `json:"hunks,omitempty"`
	Preview []tool.Block `json:"preview,omitempty"`
	// Problem is why the last answer was not accepted.
	Problem string `json:"problem,omitempty"`
}

// A Need is a call's need; Really is its resolved target if that differs.
type Need struct {
	tool.Need
	Really string `json:"really,omitempty"`
}

// An Offer is a rule that an answer with the choice session sets until the process ends.
type Offer struct {
	Rule       string `json:"rule"`
	Covers     string `json:"covers,omitempty"`
	StillAsked string `json:"spares,omitempty"`
}

// turnLine is one prompt's result in a longer conversation. It has all fields of a result but is
// not the last line.
type turnLine struct {
	resultLine
	Prompt string `json:"prompt,omitempty"` // the sender's name for it
}

// unreadLine is a line of stdin without effect.
type unreadLine struct {
	Type    string `json:"type"`
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// PrintLine prints a line for the controlling program.
func (p *Printer) PrintLine(line any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	if p.waiting { // do not wait for a commit that may need an answer
		p.begin()
	}
	p.line(line)
}

// Turn prints a prompt's result in a continuing conversation.
func (p *Printer) Turn(prompt string, r session.Result) {
	p.mu.Lock()
	p.endStreams()
	l := turnLine{resultOf(r, p.head), prompt}
	p.mu.Unlock()
	l.Type = "turn"
	p.PrintLine(l)
}

// Unread rejects a line of stdin, counted from 1.
func (p *Printer) Unread(line int, err error) {
	l := unreadLine{Type: "unread", Line: line, Message: err.Error()}
	if mistake := (*usage.Error)(nil); errors.As(err, &mistake) {
		l.Hint = mistake.Hint
	}
	p.PrintLine(l)
}
