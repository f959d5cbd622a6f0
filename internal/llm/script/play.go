package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// deltaLength is the size of a piece of text in bytes, about what models send.
const deltaLength = 12

// meet checks the expectations and fills in what was saved. The step itself stays as it was
// written.
func (s step) meet(now situation, saved map[string]string) (step, error) {
	for _, e := range s.expects {
		if err := e.check(now); err != nil {
			return s, err
		}
	}
	for _, w := range s.saves {
		found := w.match.FindStringSubmatch(now.outputs())
		if found == nil {
			found = w.match.FindStringSubmatch(now.notes)
		}
		if found == nil {
			found = w.match.FindStringSubmatch(now.prompt)
		}
		if found == nil {
			return s, fmt.Errorf("save %s: nothing matches %s in:\n%s", w.name, w.match, bound(now.outputs()))
		}
		saved[w.name] = found[1]
	}
	acts := make([]act, len(s.acts))
	for i, a := range s.acts {
		var err error
		if a.text, err = fill(a.text, saved, a.kind == "call"); err != nil {
			return s, err
		}
		acts[i] = a
	}
	s.acts = acts
	return s, nil
}

func (e expectation) check(now situation) error {
	switch e.tool {
	case "prompt":
		if !e.match.MatchString(now.prompt) {
			return fmt.Errorf("%s: the prompt is %q", e.text, bound(now.prompt))
		}
		return nil
	case "note":
		if !e.match.MatchString(now.notes) {
			return fmt.Errorf("%s: the notes are %q", e.text, bound(now.notes))
		}
		return nil
	case "none":
		if len(now.outcomes) > 0 {
			return fmt.Errorf("%s: there are %d outcomes", e.text, len(now.outcomes))
		}
		return nil
	}
	var had []string
	for _, o := range now.outcomes {
		if o.Tool == e.tool && (e.status == "" || o.Status == tool.Status(e.status)) && e.match.MatchString(o.Output) {
			return nil
		}
		had = append(had, fmt.Sprintf("%s %s: %s", o.Tool, o.Status, bound(o.Output)))
	}
	if len(had) == 0 {
		return fmt.Errorf("%s: there are no outcomes", e.text)
	}
	return fmt.Errorf("%s: the outcomes are:\n%s", e.text, strings.Join(had, "\n"))
}

// bound keeps messages readable.
func bound(text string) string {
	const limit = 600
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}

// fill replaces ${name}. Other dollar signs stay: scripts call shells.
func fill(text string, saved map[string]string, quoted bool) (string, error) {
	var unknown error
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), unknown
		}
		name, after, closed := strings.Cut(rest, "}")
		value, known := saved[name]
		switch {
		case !closed:
			b.WriteString("${")
			text = rest
			continue
		case !known:
			unknown = fmt.Errorf("${%s} was not saved", name)
		case quoted:
			raw, _ := json.Marshal(value) // a string can always be encoded
			value = string(raw[1 : len(raw)-1])
		}
		b.WriteString(value)
		text = after
	}
}

// mint makes ids that are the same in each run: call_2_1 is the first call of step 2.
func (s step) mint() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("call_%d_%d", s.number, n)
	}
}

// actor plays one step.
type actor struct {
	ctx   context.Context
	out   *wire.Out
	pace  time.Duration
	step  step
	calls wire.Calls
}

func (a *actor) play() (session.Done, error) {
	done := session.Done{Usage: a.step.usage, Stop: session.StopEnd}
	said := false
	for i, act := range a.step.acts {
		text := act.text
		if act.kind == "text" {
			if said {
				text = "\n" + text
			}
			said = true
		}
		if err := a.say(act, text, i); err != nil {
			return done, err
		}
	}
	return a.end(done)
}

// say sends one act in small pieces.
func (a *actor) say(act act, text string, index int) error {
	name := act.tool
	for first := true; first || text != ""; first = false {
		if err := a.pause(); err != nil {
			return err
		}
		var piece string
		piece, text = cutPiece(text)
		if err := a.piece(act.kind, wire.Fragment{Index: index, Name: name, Arguments: piece}); err != nil {
			return err
		}
		name = ""
	}
	return nil
}

func (a *actor) piece(kind string, f wire.Fragment) error {
	switch kind {
	case "text":
		return a.out.Text(f.Arguments)
	case "reasoning":
		return a.out.Reasoning(f.Arguments)
	}
	forming, err := a.calls.Add(f)
	if err != nil {
		return failure("%v", err)
	}
	return a.out.Send(forming)
}

func (a *actor) pause() error {
	if a.pace <= 0 {
		return a.ctx.Err()
	}
	t := time.NewTimer(a.pace)
	defer t.Stop()
	select {
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-t.C:
		return nil
	}
}

// end concludes the step as an adapter would.
func (a *actor) end(done session.Done) (session.Done, error) {
	if a.step.hold {
		<-a.ctx.Done()
	}
	if err := a.ctx.Err(); err != nil {
		return done, err
	}
	switch {
	case a.step.fail != nil:
		return done, a.step.fail
	case a.step.cut:
		return done, &session.ProviderError{
			Kind: session.BadResponse, Message: "script ended the answer before it was complete", Hint: "try again",
		}
	case a.step.stop == session.StopRefused:
		return done, &session.ProviderError{
			Kind: session.RefusedAnswer, Message: "script refused to answer", Hint: "rephrase the request",
		}
	case a.step.stop != "":
		done.Stop = a.step.stop
		return done, nil
	case a.calls.Len() == 0:
		return done, nil
	}
	calls, err := a.calls.Release()
	if err != nil {
		return done, failure("%v", err)
	}
	done.Stop = session.StopCalls
	return done, a.out.Release(calls)
}

// cutPiece cuts a small piece off, at a rune.
func cutPiece(text string) (piece, rest string) {
	if len(text) <= deltaLength {
		return text, ""
	}
	n := deltaLength
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[:n], text[n:]
}
