package lineprotocol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/text/usage"
)

// ErrNobody means that a question cannot be answered any more.
const ErrNobody = ask.Nobody("stdin has ended, and nobody is left to answer")

// Kinds of questions.
const (
	permissionKind = "permission" // permission for a call
	inquiryKind    = "inquiry"    // question of the model
)

type question struct {
	accept func(Input) error // checks and stores an answer
	done   chan struct{}
	gone   chan struct{} // closed when no answer can arrive
}

// Choices for a permission.
const (
	once       = "once"
	forSession = "session"
	no         = "no"
)

// Ask asks for a permission.
func (t *Talk) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	q := stream.Question{Kind: permissionKind, Call: a.Question.Call, Agent: a.Question.Agent, Name: a.Question.Tool.Name,
		Text: a.Why, Choices: []string{once, no}, Hunks: a.Question.WithoutHunks != nil, Preview: a.Preview, Problem: a.Problem}
	for _, n := range a.Question.Needs {
		q.Needs = append(q.Needs, stream.Need{Need: n, Really: a.Resolved[n]})
	}
	for _, o := range a.Offers {
		q.Offers = append(q.Offers, stream.Offer{Rule: o.Rule, Covers: o.Covers, StillAsked: o.Spares})
	}
	if len(q.Offers) > 0 {
		q.Choices = slices.Insert(q.Choices, 1, forSession)
	}
	if a.Question.Editing != nil {
		q.Editable = a.Question.Editing.Text
	}
	var answer ask.Answer
	err := t.put(ctx, q, func(s Input) (err error) {
		answer, err = permitted(s, q, a.Usual)
		answer.By = s.by
		return err
	})
	return answer, err
}

// permitted converts an answer to a permission.
func permitted(s Input, q stream.Question, usual int) (ask.Answer, error) {
	if !slices.Contains(q.Choices, s.Choice) {
		return ask.Answer{}, usage.Mistake("the choices are: "+strings.Join(q.Choices, ", "), "question %s has no choice %q", s.Question, s.Choice)
	}
	changed := s.Text != "" || len(s.Refused) > 0
	switch {
	case changed && s.Choice != once:
		return ask.Answer{}, usage.Mistake("choose once", "a call that is changed is allowed once")
	case s.Text != "" && q.Editable == "":
		return ask.Answer{}, usage.Mistake("allow it, or say no with a reason", "nothing of this call can be rewritten")
	case len(s.Refused) > 0 && !q.Hunks:
		return ask.Answer{}, usage.Mistake("allow it, or say no with a reason", "this call is allowed whole or not at all")
	case s.Choice == forSession:
		if s.Offer == nil {
			s.Offer = &usual
		}
		n, err := offered(s.Offer, len(q.Offers))
		return ask.Answer{Choice: ask.ForSession, Offer: n}, err
	case s.Choice == once:
		return ask.Answer{Choice: ask.Once, Text: s.Text, Refused: s.Refused, Reason: s.Reason}, nil
	}
	return ask.Answer{Choice: ask.Deny, Reason: s.Reason}, nil
}

// Inquire asks a question of the model or shows its plan.
func (t *Talk) Inquire(ctx context.Context, a ask.Question) (string, error) {
	q := stream.Question{Kind: inquiryKind, Agent: a.Agent, Title: a.Title, Text: a.Text, Choices: a.Choices, Problem: a.Said}
	var words string
	err := t.put(ctx, q, func(s Input) error {
		if words = s.Text; words == "" {
			words = s.Choice
		}
		if strings.TrimSpace(words) == "" {
			return usage.Mistake(`answer with a "text", or one of the choices as "choice"`, "the answer says nothing")
		}
		return nil
	})
	return words, err
}

func (t *Talk) put(ctx context.Context, q stream.Question, accept func(Input) error) error {
	w := &question{accept: accept, done: make(chan struct{}), gone: make(chan struct{})}
	ended := false
	t.set(func() {
		if ended = t.ended; ended {
			return
		}
		t.count++
		q.Type, q.Question = "question", fmt.Sprint("q", t.count)
		t.asked[q.Question] = w
	})
	if ended {
		return ErrNobody
	}
	if q.Choices == nil {
		q.Choices = []string{}
	}
	if t.OnSettled != nil {
		defer t.OnSettled(q.Question)
	}
	t.Out.PrintLine(q)
	select {
	case <-w.done:
		return nil
	case <-w.gone:
		return ErrNobody
	case <-ctx.Done():
		t.set(func() { delete(t.asked, q.Question) })
		return ctx.Err()
	}
}

// answer handles an answer. An invalid one leaves the question open.
func (t *Talk) answer(s Input) (err error) {
	t.set(func() {
		w, open := t.asked[s.Question]
		if !open {
			err = usage.Mistake("a question is answered once, and not after its turn has ended", "no question %q waits for an answer", s.Question)
			return
		}
		if err = w.accept(s); err == nil {
			delete(t.asked, s.Question)
			close(w.done)
		}
	})
	return err
}
