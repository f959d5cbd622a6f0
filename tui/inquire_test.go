package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tui/inquiry"
	"adze/tui/permission"
	"adze/tui/port"
)

// inquire has the model ask; what comes of it is noted.
func (p *player) inquire(rest string) {
	a := &inquiry.Asked{Question: decode[inquiry.Question](p.t, rest), Reply: make(chan inquiry.Reply, 1)}
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
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		screen, out := io.Pipe()
		var u *UI
		u = New(Options{In: in, Out: out, Info: Info{Version: "0.1.0"}, Send: func(ctx context.Context, _ port.Prompt) session.Result {
			first, err := u.Inquire(ctx, inquiry.Question{Text: "Which\u202e one?", Choices: []string{"this", "that"}})
			if err != nil {
				t.Error(err)
			}
			second, err := u.Inquire(ctx, inquiry.Question{Agent: "explore: look", Text: "Why?"})
			if err != nil {
				t.Error(err)
			}
			u.Observe(session.Notice{Text: "answered " + first + " and " + second})
			return session.Result{Cause: session.CauseDone}
		}})
		ended := make(chan error, 1)
		go func() {
			ended <- u.RunPlain(t.Context())
			out.Close()
		}()
		lines := bufio.NewScanner(screen)
		var all strings.Builder
		until := func(part string) {
			t.Helper()
			for lines.Scan() {
				all.WriteString(lines.Text() + "\n")
				if strings.Contains(lines.Text(), part) {
					return
				}
			}
			t.Fatalf("the end before %q:\n%s", part, all.String())
		}
		press := func(line string) { _, _ = io.WriteString(keys, line+"\n") }
		until("/quit leaves")
		press("go")
		until("own words")
		press("1")
		until("too soon")
		time.Sleep(permission.Guard)
		press("2")
		until("The subagent explore: look asks:")
		until("Write your answer:")
		time.Sleep(permission.Guard)
		press("because")
		until("answered that and because")
		until("Ready.")
		press("/quit")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !strings.Contains(all.String(), "Which<U+202E> one?") {
			t.Errorf("the question is not whole:\n%s", all.String())
		}
		in.Close()
	})
}

// TestNobodyAnswersWhenTheInputIsOver: a question that comes then ends at once.
func TestNobodyAnswersWhenTheInputIsOver(t *testing.T) {
	var got error
	var u *UI
	u = New(Options{In: strings.NewReader("go\n"), Out: io.Discard, Send: func(ctx context.Context, _ port.Prompt) session.Result {
		_, got = u.Inquire(ctx, inquiry.Question{Text: "Which?"})
		return session.Result{Cause: session.CauseDone}
	}})
	if err := u.RunPlain(t.Context()); err != nil || got == nil {
		t.Errorf("run: %v, answer: %v", err, got)
	}
}
