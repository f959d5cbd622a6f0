package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/tool"
)

// An answer may hold neither text nor a call that can be read: some servers swallow a call of a
// name that was not offered, some models only think. That is no end of a turn, and no older message
// is its answer. The model is told once in a row what it can call; says it nothing again, the turn
// ends with CauseNoAnswer. The same holds for an answer that is in doubt (doubt.go).

// mostSilences is how many answers without words a turn may have in all, however the model goes on
// after each.
const mostSilences = 4

// silences counts the answers of a turn that said nothing.
type silences struct {
	now       bool  // the newest answer said nothing, or is in doubt
	doubt     doubt // why it is
	row, all  int
	tokens    int  // that the newest one has cost
	reasoning bool // it held thoughts
	calls     int  // that were made before it
}

// saw takes an answer that came whole, of a request that offered tools.
func (n *silences) saw(m Message, done Done, tools []tool.Definition) {
	n.calls += len(m.Calls())
	n.now = len(m.Calls()) == 0 && strings.TrimSpace(m.Text()) == "" && m.Stop != StopLength
	n.doubt = ""
	if len(m.Calls()) == 0 && !n.now {
		n.doubt = doubtOf(m, done, tools)
	}
	n.now = n.now || n.doubt != ""
	if !n.now {
		n.row = 0
		return
	}
	n.row++
	n.all++
	n.reasoning = len(m.Parts) > 0
	n.tokens = 0
	if m.Usage != nil {
		n.tokens = m.Usage.Output
	}
}

// answer is what the model is told of its silence, or the error that ends the turn.
func (n *silences) answer(tools []tool.Definition) (string, error) {
	over := n.row > 1 || n.all >= mostSilences
	switch {
	case n.doubt != "" && over:
		return "", n.doubt.err()
	case n.doubt != "":
		return n.doubt.question(tools), nil
	case over:
		return "", &ProviderError{Kind: EmptyAnswer, Message: n.what(), Hint: "ask again in other words, or try another model; " +
			"some servers swallow a call that they cannot read"}
	}
	text := "Your last reply held no text and no call that could be read."
	if n.calls > 0 {
		text += " If the work is done, say in a sentence or two what was done and what came of it."
	}
	if len(tools) > 0 {
		text += " The only tools that can be called, by exactly these names, are: " + strings.Join(namesOf(tools), ", ") + "."
	}
	return text + " Call one of them, or answer in plain text.", nil
}

func namesOf(tools []tool.Definition) []string {
	names := make([]string, len(tools))
	for i, d := range tools {
		names[i] = d.Name
	}
	return names
}

func (n *silences) what() string {
	switch {
	case n.calls > 0 && !n.reasoning:
		return "the model said nothing more after its calls, twice; what they did is above"
	case n.reasoning:
		return "the model only thought, and answered with nothing, twice"
	case n.tokens > 0:
		return fmt.Sprintf("the model answered with %d tokens that hold neither text nor a call, twice", n.tokens)
	}
	return "the model answered with nothing, twice"
}

// Two answers of which nothing runs: one that was cut at the output limit, and one that the model's
// server could not read.

// errCut ends a turn whose answer was cut at the model's output limit.
var errCut = errors.New("the answer was cut at the model's output limit")

// cutCall is an answer that was cut inside a call, or behind one. None of its calls may run: of
// those that look whole nobody knows what was to follow.
type cutCall struct{ name string }

func (c *cutCall) Error() string { return errCut.Error() + " inside a call of " + c.name }
func (c *cutCall) Unwrap() error { return errCut }

// advice tells the model what became of its answer.
func (c *cutCall) advice() string {
	return "Your last answer was cut at the output limit inside a call of " + c.name + ". Nothing of it was run. " +
		"Write it in smaller pieces, such as a file in several calls, and with few words around them."
}

// cutOff ends an answer that was cut. Its text is kept.
func (d *draft) cutOff() error {
	if n := len(d.calls); n > 0 {
		return &cutCall{d.calls[n-1].Name}
	}
	if d.forming != "" {
		return &cutCall{d.forming}
	}
	return errCut
}

// stumbled is the failure of an answer in which the model's server could not read a call, or nil.
func stumbled(failed error) *ProviderError {
	var p *ProviderError
	if !errors.As(failed, &p) || p.Stumble == "" {
		return nil
	}
	return p
}

// correction tells the model what its server made of its answer.
func (e *ProviderError) correction() string {
	return "Your last answer could not be read, and nothing of it was run: " + e.Message + ".\nYou wrote:\n" + e.Stumble +
		"\nCall the tool again, with the exact name of a tool that you have and its arguments as one JSON object, or answer in words."
}

// gather reads an answer without showing it: what there is of one that was cut off is one. Calls
// are not taken.
func (d *draft) gather(ctx context.Context, p Provider, r Request) error {
	for c := range p.Stream(ctx, r) {
		if d.ended {
			return errAfterEnd()
		}
		switch c := c.(type) {
		case Text:
			d.append(TextPart, c.Delta, nil)
		case Mended:
			continue
		case Done:
			d.done, d.ended = c, true
			continue
		}
		d.worked = true
	}
	if err := d.settle(ctx); !errors.Is(err, errCut) {
		return err
	}
	return nil
}

// errAfterEnd says that an adapter breaks its promise of one end.
func errAfterEnd() error {
	return &ProviderError{Kind: BadResponse, Message: "the adapter sent more after the end of its stream"}
}
