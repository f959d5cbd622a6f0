package app

import (
	"context"
	"errors"
	"time"

	"adze/internal/answer"
	"adze/internal/desk"
	"adze/internal/plan"
	"adze/internal/policy"
	"adze/internal/print"
	"adze/internal/talk"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/inquiry"
)

// The values of --input-format.
const (
	inputText  = "text"
	inputLines = "stream-json"
)

// checkInput holds --input-format to what can be.
func (o *options) checkInput() error {
	switch {
	case o.inputFormat != inputText && o.inputFormat != inputLines:
		return misuse("text or stream-json", "unknown input format %q", o.inputFormat)
	case o.inputFormat == inputText:
		return nil
	case !o.print:
		return misuse("add --print", "--input-format stream-json is for a program, without a terminal")
	case o.format != string(print.StreamJSON):
		return misuse("add --output-format stream-json", "who writes lines has to read lines")
	case o.stdin:
		return misuse("leave - out", "stdin has the lines of --input-format, and no prompt")
	}
	return nil
}

// converse is a run in which a program holds the conversation.
func (a *app) converse(ctx context.Context, o *options, p *print.Printer, words string) session.Result {
	started := time.Now()
	var err error
	if o.answer, err = answer.Read(o.schema); err != nil {
		return failure(err)
	}
	t := talk.New(p)
	c := &conversation{o: o, out: p, talk: t}
	o.asked = words
	c.w, err = a.wire(ctx, o, func(e session.Event) { p.Observe(e); t.Heard(e) }, person{ask: c.ask, inquire: c.inquire, review: c.review})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		c.w.close()
	}
	if err != nil {
		return failure(err)
	}
	defer c.w.close()
	if err := a.begin(ctx, o, p, c.w); err != nil {
		return failure(err)
	}
	var first []talk.Prompt
	if words += o.prompt(); words != "" || len(o.attach) > 0 {
		first = []talk.Prompt{{Text: words, Attach: o.attach}}
	}
	c.w.patient.Watch(p.Observe)
	r := c.w.patient.Judge(t.Run(ctx, a.In, c, first...))
	r.Duration = time.Since(started)
	return o.judge(r)
}

// conversation is a session that a program talks with.
type conversation struct {
	o    *options
	w    *wired
	out  *print.Printer
	talk *talk.Talk
}

// Prompt is one turn.
func (c *conversation) Prompt(ctx context.Context, p talk.Prompt) session.Result {
	started := time.Now()
	in, err := session.Input{Text: p.Text}, error(nil)
	if in.Attachments, err = desk.Attachments(p.Attach); err == nil {
		err = c.w.mayAttach(p.Attach)
	}
	if err == nil {
		in, err = c.w.menu.Given(in, p.Text, c.o.answer.Demand)
		if in.Compose == nil {
			in.Words = p.Text
		}
	}
	if err != nil {
		return failure(err)
	}
	r := c.o.answer.Structured(c.w.answer(ctx, c.w.servers.dress(in)))
	r.Duration = time.Since(started)
	return r
}

func (c *conversation) Steer(text string) bool { return c.w.session.Steer(text) }

func (c *conversation) CancelCall(id tool.CallID) bool { return c.w.session.CancelCall(id) }

func (c *conversation) ask(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	answer, err := asking{w: c.w, ask: c.talk.Ask, tell: c.out.Observe}.put(ctx, q, p)
	if errors.Is(err, talk.ErrNobody) {
		err = policy.ErrNobody
	}
	return answer, err
}

func (c *conversation) inquire(ctx context.Context, q toolset.Inquiry) (string, error) {
	return c.talk.Inquire(ctx, inquiry.Question{Agent: q.Agent, Text: q.Question, Choices: q.Choices})
}

func (c *conversation) review(ctx context.Context, q plan.Question) (string, error) {
	return c.talk.Inquire(ctx, inquiry.Question{Title: "the model's plan", Text: q.Text, Choices: q.Choices, Said: q.Said})
}
