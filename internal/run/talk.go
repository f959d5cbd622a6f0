package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/cmd/lineprotocol"
	"adze/internal/cmd/print"
	"adze/internal/policy"
	"adze/internal/project/plan"
	"adze/internal/run/hostio"
	"adze/internal/run/outputschema"
	"adze/session"
	"adze/tool"
	"adze/toolset"
	"adze/tui/question"
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
	if o.answer, err = outputschema.Read(o.schema); err != nil {
		return failure(err)
	}
	t := lineprotocol.New(p)
	c := &conversation{app: a, out: p, talk: t}
	o.asked = words
	if err := c.open(ctx, o); err != nil {
		return failure(err)
	}
	defer func() { c.now().close() }()
	if err := a.begin(ctx, o, p, c.w); err != nil {
		return failure(err)
	}
	p.Mode = func() string { return string(c.now().gate.Mode()) }
	p.Open()
	var first []lineprotocol.Prompt
	if words += o.prompt(); words != "" || len(o.attach) > 0 {
		first = []lineprotocol.Prompt{{Text: words, Attach: o.attach}}
	}
	c.w.patient.Watch(p.Observe)
	r := t.Run(ctx, a.In, c, first...)
	r = c.now().patient.Judge(r)
	r.Duration = time.Since(started)
	return o.judge(r)
}

// conversation is a session that a program talks with.
type conversation struct {
	app  *app
	o    *options
	out  *print.Printer
	talk *lineprotocol.Talk

	mu sync.Mutex
	w  *wired // that of the model that answers
}

// open wires the conversation, and closes it again where that fails.
func (c *conversation) open(ctx context.Context, o *options) error {
	w, err := c.app.wire(ctx, o, func(e session.Event) { c.out.Observe(e); c.talk.Heard(e) }, person{ask: c.ask, inquire: c.inquire, review: c.review})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		w.close()
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w, c.o = w, o
	return nil
}

func (c *conversation) now() *wired {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w
}

// Set puts a permission mode and an effort in force.
func (c *conversation) Set(mode, effort string) error {
	w := c.now()
	if effort != "" && effort != session.DefaultEffort && !slices.Contains(session.Efforts(), effort) {
		return misuse("one of "+strings.Join(session.Efforts(), ", ")+", or default", "there is no effort %q", effort)
	}
	if mode != "" {
		if err := w.setMode(mode); err != nil {
			return misuse("", "%v", err)
		}
	}
	if effort != "" {
		w.session.SetEffort(effort)
	}
	c.tell(w)
	return nil
}

// tell writes a mode or a model that no event tells of.
func (c *conversation) tell(w *wired) {
	c.out.Now(string(w.gate.Mode()), w.head.Provider, w.head.Model)
}

// Model opens the session anew, with another model. Where that fails the one before answers on.
func (c *conversation) Model(ctx context.Context, name string) error {
	w := c.now()
	switch {
	case name == w.head.Provider+"/"+w.head.Model:
		return nil
	case c.o.noSession, c.o.worktree != "", c.o.demo, c.o.record != "", c.o.replay != "":
		return misuse("leave --no-session, --worktree, --record, --replay and --demo out", "the model cannot be changed: the session is opened anew for that, which this run cannot do")
	}
	next := *c.o
	next.Mode, next.effort = string(w.gate.Mode()), w.session.Effort()
	next.resume, next.as, next.resumeLast, next.fork, next.acceptPlan = "", w.head.Session, false, false, ""
	if len(w.session.History()) > 0 {
		next.resume, next.as = w.head.Session, ""
	}
	before := next
	before.model = w.head.Provider + "/" + w.head.Model
	next.model = name
	w.close()
	err := c.open(ctx, &next)
	if err != nil {
		if back := c.open(context.WithoutCancel(ctx), &before); back != nil {
			return fmt.Errorf("%w; the conversation cannot go on: %w", err, back)
		}
	}
	c.now().patient.Watch(c.out.Observe)
	c.tell(c.now())
	return err
}

// Prompt is one turn.
func (c *conversation) Prompt(ctx context.Context, p lineprotocol.Prompt) session.Result {
	started := time.Now()
	w := c.now()
	in, err := session.Input{Text: p.Text}, error(nil)
	if in.Attachments, err = hostio.Attachments(p.Attach); err == nil {
		err = w.mayAttach(p.Attach)
	}
	if err == nil {
		in, err = w.enclose(in, p.Files)
	}
	if err == nil {
		in, err = w.menu.Given(in, p.Text, c.o.answer.Demand)
		if in.Compose == nil {
			in.Words = p.Text
		}
	}
	if err != nil {
		return failure(err)
	}
	r := c.o.answer.Structured(w.answer(ctx, w.servers.dress(in)))
	r.Duration = time.Since(started)
	return r
}

func (c *conversation) Steer(text string) bool { return c.now().session.Steer(text) }

func (c *conversation) CancelCall(id tool.CallID) bool { return c.now().session.CancelCall(id) }

func (c *conversation) ask(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	answer, err := asking{w: c.now(), ask: c.talk.Ask, tell: c.out.Observe}.put(ctx, q, p)
	if errors.Is(err, lineprotocol.ErrNobody) {
		err = policy.ErrNobody
	}
	return answer, err
}

func (c *conversation) inquire(ctx context.Context, q toolset.Inquiry) (string, error) {
	return c.talk.Inquire(ctx, question.Question{Agent: q.Agent, Text: q.Question, Choices: q.Choices})
}

func (c *conversation) review(ctx context.Context, q plan.Question) (string, error) {
	return c.talk.Inquire(ctx, question.Question{Title: "the model's plan", Text: q.Text, Choices: q.Choices, Said: q.Said})
}
