package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tui/question"
)

// inquire has the model ask; what comes of it is noted.
func (p *player) inquire(rest string) {
	a := &question.Asked{Question: decode[ask.Question](p.t, rest), Reply: make(chan question.Reply, 1)}
	p.inquiries = append(p.inquiries, a)
	p.send(batch{a})
}

// replied notes the answers that were given since.
func (p *player) replied() {
	left := p.inquiries[:0]
	for _, a := range p.inquiries {
		select {
		case r := <-a.Reply:
			p.note(fmt.Sprintf("replied: %q refused %v", r.Text, r.Refused))
		default:
			left = append(left, a)
		}
	}
	p.inquiries = left
}

// TestAMessageAnswersNoQuestion: however slowly a message is written, none of its letters answers.
func TestAMessageAnswersNoQuestion(t *testing.T) {
	const asks = `permission {"tool":"bash","needs":[{"permission":"execute","target":"make"}],"rule":"allow execute(make)"}`
	const fixed = `asks {"Text":"Use it?","Choices":["no","yes"],"Decides":true}`
	for name, c := range map[string]struct {
		steps []string
		want  string // what came of it
	}{
		"no message": {[]string{asks, "wait 1s", "type y"}, `answered: once ""`},
		"a pause":    {[]string{asks, "wait 1s", "type hm why", "wait 1m", "type and", "wait 1m"}, ""},
		"a draft":    {[]string{"type and", "wait 1m", asks, "wait 1m", "type a"}, ""},
		"its end":    {[]string{"type and", asks, "wait 1m", "key enter", "wait 1s", "type y"}, `sent: "and", answered: once ""`},
		"escape":     {[]string{"type and", asks, "wait 1m", "key esc", "type y"}, `answered: once ""`},
		"two":        {[]string{"type and", asks, asks, "wait 1m", "key esc", "type y", "wait 1s", "type y"}, `answered: once "", answered: once ""`},
		"soon":       {[]string{"type go", "key enter", "type an", asks, "key esc", "type y", "wait 1m", "type y"}, `sent: "go"`},
		"erased":     {[]string{asks, "wait 1s", "type h", "key backspace", "wait 1m", "type a", "key backspace esc", "type y"}, `answered: once ""`},
		"pasted":     {[]string{asks, "wait 1s", "type h", "key esc", "paste", "wait 1m", "type y"}, ""},
		"a list":     {[]string{"ports", "key f2", "type p", asks, "wait 1m", "type a", "wait 1m", "type r", "key esc", "wait 1s", "type y"}, `answered: once ""`},
		"fixed":      {[]string{fixed, "wait 1s", "type more 2", "wait 1m", "type 1", "key enter", "wait 1s", "type 2"}, `sent: "more 21", replied: "yes" refused false`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlayer(t, nil)
			for _, step := range c.steps {
				verb, rest, _ := strings.Cut(step, " ")
				if verb == "paste" {
					p.send(tea.PasteMsg{Content: "text"})
				} else {
					p.step(verb, rest)
				}
			}
			var got []string
			for _, line := range p.log {
				if !strings.HasPrefix(line, "told: ") && !strings.HasPrefix(line, "looked") && !strings.HasPrefix(line, "searched") {
					got = append(got, line)
				}
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("got %s, want %s; the prompt holds %q", text, c.want, p.m.prompt.Text)
			}
		})
	}
}

func TestAQuestionIsAnsweredOverLines(t *testing.T) {
	said := talking(t, func(k *talk, o *Options) {
		o.Send = func(ctx context.Context, _ api.Prompt) session.Result {
			first, err := k.ui.Inquire(ctx, ask.Question{Text: "Which\u202e one?", Choices: []string{"this", "that"}})
			if err != nil {
				t.Error(err)
			}
			second, err := k.ui.Inquire(ctx, ask.Question{Agent: "explore: look", Text: "Why?"})
			if err != nil {
				t.Error(err)
			}
			k.ui.Observe(session.Notice{Text: "answered " + first + " and " + second})
			return session.Result{Cause: session.CauseDone}
		}
	}, func(k *talk) {
		k.press("go")
		k.until("own words")
		k.press("1")
		k.until("too soon")
		k.waits()
		k.press("2")
		k.until("The subagent explore: look asks:")
		k.until("Write your answer:")
		k.waits()
		k.press("because")
		k.until("answered that and because")
		k.until("Ready.")
		k.press("/quit")
	})
	if !strings.Contains(said, "Which<U+202E> one?") {
		t.Errorf("the question is not whole:\n%s", said)
	}
}

// TestNobodyAnswersWhenTheInputIsOver: a question that comes then ends at once.
func TestNobodyAnswersWhenTheInputIsOver(t *testing.T) {
	var got error
	var u *UI
	u = New(Options{In: strings.NewReader("go\n"), Out: io.Discard, Send: func(ctx context.Context, _ api.Prompt) session.Result {
		_, got = u.Inquire(ctx, ask.Question{Text: "Which?"})
		return session.Result{Cause: session.CauseDone}
	}})
	if err := u.RunPlain(t.Context()); err != nil || got == nil {
		t.Errorf("run: %v, answer: %v", err, got)
	}
}
