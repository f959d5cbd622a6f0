package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/tool"
)

// An answer may have neither text nor a readable call: some servers drop a call of a tool that was
// not offered, and some models only reason. It does not end the turn, and no older message becomes
// the result. The model gets a list of the tools once in a row; if it then stays silent, the turn
// ends with CauseNoAnswer. The same applies to a doubtful answer (doubt.go).

// mostSilences limits a turn's empty answers, consecutive or not.
const mostSilences = 4

type silences struct {
	latest    bool        // the newest answer is empty or in doubt
	doubt     doubtReason // the reason for doubt
	row, all  int
	tokens    int  // cost of the newest one
	reasoning bool // it had reasoning
	calls     int  // calls before it
}

// saw checks a complete answer to a request with tools.
func (n *silences) saw(m Message, done Done, tools []tool.Definition) {
	n.calls += len(m.Calls())
	n.latest = len(m.Calls()) == 0 && strings.TrimSpace(m.Text()) == "" && m.Stop != StopLength
	n.doubt = ""
	if len(m.Calls()) == 0 && !n.latest {
		n.doubt = doubtOf(m, done, tools)
	}
	n.latest = n.latest || n.doubt != ""
	if !n.latest {
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

// answer returns a text about its silence for the model, or the error that ends the turn.
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

// Answers whose calls do not run: cut at the output limit, or unreadable for the model's server.

var errCut = errors.New("the answer was cut at the model's output limit")

// cutCall is an answer cut inside or after a call. None of its calls may run: even complete ones
// may depend on the missing rest.
type cutCall struct{ name string }

func (c *cutCall) Error() string { return errCut.Error() + " inside a call of " + c.name }
func (c *cutCall) Unwrap() error { return errCut }

func (c *cutCall) advice() string {
	return "Your last answer was cut at the output limit inside a call of " + c.name + ". Nothing of it was run. " +
		"Write it in smaller pieces, such as a file in several calls, and with few words around them."
}

// cutOff ends a cut answer and keeps its text.
func (d *draft) cutOff() error {
	if n := len(d.calls); n > 0 {
		return &cutCall{d.calls[n-1].Name}
	}
	if d.forming != "" {
		return &cutCall{d.forming}
	}
	return errCut
}

// stumbled returns the failure of an answer with a call that the model's server could not parse, or
// nil.
func stumbled(failed error) *ProviderError {
	var p *ProviderError
	if !errors.As(failed, &p) || p.UnparsedCall == "" {
		return nil
	}
	return p
}

// correction returns the server's reaction to the answer, for the model.
func (e *ProviderError) correction() string {
	return "Your last answer could not be read, and nothing of it was run: " + e.Message + ".\nYou wrote:\n" + e.UnparsedCall +
		"\nCall the tool again, with the exact name of a tool that you have and its arguments as one JSON object, or answer in words."
}

// gather reads an answer without showing it; a cut one is accepted. Calls are ignored.
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

// errAfterEnd means that an adapter sent chunks after Done.
func errAfterEnd() error {
	return &ProviderError{Kind: BadResponse, Message: "the adapter sent more after the end of its stream"}
}
