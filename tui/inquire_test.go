package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

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
