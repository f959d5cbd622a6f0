package stream

import (
	"errors"

	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// Question is one as the program reads it. It waits until it is answered, the turn ends, or stdin
// does.
type Question struct {
	Type     string      `json:"type"`     // question
	Question string      `json:"question"` // its name
	Kind     string      `json:"kind"`
	Call     tool.CallID `json:"call,omitempty"`
	Agent    string      `json:"agent,omitempty"`
	Name     string      `json:"name,omitempty"` // of the tool
	Title    string      `json:"title,omitempty"`
	Text     string      `json:"text,omitempty"`
	Choices  []string    `json:"choices"`
	Needs    []Need      `json:"need,omitempty"`
	Offers   []Offer     `json:"offers,omitempty"`
	// Editable is what an answer may rewrite with its text; if empty, nothing.
	Editable string `json:"editable,omitempty"`
	// Hunks says that an answer may refuse hunks of the preview by their numbers, from 1.
	Hunks   bool         `json:"hunks,omitempty"`
	Preview []tool.Block `json:"preview,omitempty"`
	// Problem says what came of the answer before.
	Problem string `json:"problem,omitempty"`
}

// Need is what a call needs; Really is what it comes to, where that is not what stands there.
type Need struct {
	tool.Need
	Really string `json:"really,omitempty"`
}

// Offer is a rule that an answer with the choice session puts in force until the process ends.
type Offer struct {
	Rule   string `json:"rule"`
	Covers string `json:"covers,omitempty"`
	Spares string `json:"spares,omitempty"`
}

// turnLine tells what came of one prompt of several; it has all that a result has, but is not the
// last.
type turnLine struct {
	resultLine
	Prompt string `json:"prompt,omitempty"` // the name that its sender gave it
}

// unreadLine tells of a line on stdin that had no effect.
type unreadLine struct {
	Type    string `json:"type"`
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Say writes a line of who talks with the reader.
func (p *Printer) Say(line any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	if p.waiting { // who talks must not wait for a commit that may need their answer
		p.begin()
	}
	p.line(line)
}

// Turn tells what came of a prompt after which the conversation goes on.
func (p *Printer) Turn(prompt string, r session.Result) {
	p.mu.Lock()
	p.endStreams()
	l := turnLine{resultOf(r, p.head), prompt}
	p.mu.Unlock()
	l.Type = "turn"
	p.Say(l)
}

// Unread refuses a line of stdin, counted from 1.
func (p *Printer) Unread(line int, err error) {
	l := unreadLine{Type: "unread", Line: line, Message: err.Error()}
	if mistake := (*usage.Error)(nil); errors.As(err, &mistake) {
		l.Hint = mistake.Hint
	}
	p.Say(l)
}
