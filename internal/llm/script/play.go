package script

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

// in bytes; models send pieces of about this size
const deltaLength = 12

// meet checks the expectations, saves values, and returns the step's lines with variables filled
// in.
func (s *step) meet(now situation, saved map[string]string) (acts []line, err error) {
	for _, l := range s.lines {
		switch l.words[0] {
		case "expect":
			if err := l.check(now); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", strings.Join(l.words, " "), l.text, err)
			}
		case "save":
			var found []string
			for _, text := range []string{now.outputs(), now.notes, now.prompt} {
				if found == nil {
					found = l.match.FindStringSubmatch(text)
				}
			}
			if found == nil {
				return nil, fmt.Errorf("save %s: nothing matches %s in:\n%s", l.words[1], l.match, bound(now.outputs()))
			}
			saved[l.words[1]] = found[1]
		default:
			acts = append(acts, l)
		}
	}
	for i, l := range acts {
		if acts[i].text, err = fill(l.text, saved, l.words[0] == "call"); err != nil {
			return nil, err
		}
	}
	return acts, nil
}

// check describes the actual text if a line's expectation fails.
func (l line) check(now situation) error {
	var had []string
	switch l.words[1] {
	case "prompt":
		if !l.match.MatchString(now.prompt) {
			return fmt.Errorf("the prompt is %q", bound(now.prompt))
		}
		return nil
	case "note":
		if !l.match.MatchString(now.notes) {
			return fmt.Errorf("the notes are %q", bound(now.notes))
		}
		return nil
	case "none":
		if len(now.outcomes) > 0 {
			return fmt.Errorf("there are %d outcomes", len(now.outcomes))
		}
		return nil
	}
	for _, o := range now.outcomes {
		if o.Tool == l.words[1] && (len(l.words) == 2 || o.Status == tool.Status(l.words[2])) && l.match.MatchString(o.Output) {
			return nil
		}
		had = append(had, fmt.Sprintf("%s %s: %s", o.Tool, o.Status, bound(o.Output)))
	}
	if len(had) == 0 {
		return fmt.Errorf("there are no outcomes")
	}
	return fmt.Errorf("the outcomes are:\n%s", strings.Join(had, "\n"))
}

// bound shortens text for messages.
func bound(text string) string {
	const limit = 600
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}

// fill replaces ${name}. Other dollar signs stay, for shell commands.
func fill(text string, saved map[string]string, quoted bool) (filled string, err error) {
	filled = regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllStringFunc(text, func(whole string) string {
		name := whole[2 : len(whole)-1]
		value, known := saved[name]
		switch {
		case !known:
			err = fmt.Errorf("${%s} was not saved", name)
		case quoted:
			raw, _ := json.Marshal(value) // a string can always be encoded
			value = string(raw[1 : len(raw)-1])
		}
		return value
	})
	return filled, err
}

// mint returns a generator for reproducible ids: call_2_1 is the first call in step 2.
func (s *step) mint() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("call_%d_%d", s.number, n)
	}
}

type actor struct {
	ctx   context.Context
	out   *wire.ChunkSender
	pace  time.Duration
	calls wire.Calls
}

func (a *actor) play(s *step, acts []line) (session.Done, error) {
	done := session.Done{Usage: s.usage, Stop: session.StopEnd}
	said := false
	for i, l := range acts {
		if l.words[0] == "text" && said {
			l.text = "\n" + l.text
		}
		said = said || l.words[0] == "text"
		if err := a.say(l, i); err != nil {
			return done, err
		}
	}
	if s.hold {
		<-a.ctx.Done()
	}
	switch err := a.ctx.Err(); {
	case err != nil:
		return done, err
	case s.fail != nil:
		return done, s.fail
	case s.stop != "":
		done.Stop = s.stop
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

// say sends one line in small pieces.
func (a *actor) say(l line, index int) error {
	text, name := l.text, l.words[len(l.words)-1]
	for first := true; first || text != ""; first = false {
		if err := a.pause(); err != nil {
			return err
		}
		n := min(deltaLength, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		if err := a.piece(l.words[0], wire.Fragment{Index: index, Name: name, Arguments: text[:n]}); err != nil {
			return err
		}
		text, name = text[n:], ""
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
