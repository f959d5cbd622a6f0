package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/outputschema"
	"adze/internal/run/process"
	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// converse runs the conversation until in ends and all requests are done.
func (c *talker) converse(ctx context.Context, in io.Reader, o *flags.Request, words string) session.Result {
	started := time.Now()
	a, p, t := c.app, c.out, c.talk
	schema, err := outputschema.Read(o.Schema)
	if err != nil {
		return process.Failure(err)
	}
	t.Changed = func() {
		if w := c.conversation(); w != nil {
			w.Refresh()
		}
	}
	o.Asked, o.Answer = words, schema
	if err := c.open(ctx, o); err != nil {
		return process.Failure(err)
	}
	defer func() { c.conversation().Close() }()
	if err := begin(ctx, a, o, p, c.w); err != nil {
		return process.Failure(err)
	}
	p.Mode = func() string { return string(c.conversation().Gate.Mode()) }
	p.Open()
	var first []lineprotocol.Prompt
	if words += o.Prompt(); words != "" || len(o.Attach) > 0 {
		first = []lineprotocol.Prompt{{Text: words, Attach: o.Attach}}
	}
	c.w.Buffered.Watch(p.Observe)
	r := t.Run(ctx, in, c, first...)
	r = c.conversation().Buffered.Judge(r)
	r.Duration = time.Since(started)
	return o.Judge(r)
}

// talker is a session with a program as its user.
type talker struct {
	app  *process.Process
	o    *flags.Request
	out  *stream.Printer
	talk *lineprotocol.Talk

	mu sync.Mutex
	w  *conversation.Conversation // replaced when the model changes

	clients conversation.Clients // besides input lines
}

// newTalker returns a conversation that writes to out. A takeover by a client ends it with
// session.ErrTaken.
func newTalker(a *process.Process, out *stream.Printer, end context.CancelCauseFunc) *talker {
	c := &talker{app: a, out: out, talk: lineprotocol.New(out)}
	c.clients.Release = letGo(end)
	return c
}

// open builds the conversation, and closes it after a failure.
func (c *talker) open(ctx context.Context, o *flags.Request) error {
	clients := c.clients
	clients.Line = func(raw []byte) error { return c.talk.Take(raw, c) }
	clients.Waits = c.talk.Waits
	who := conversation.UserCallbacks{Ask: c.ask, AskQuestion: c.put, Clients: clients, Unseen: clients.Headless}
	w, err := conversation.Open(ctx, c.app, *o, c.observe, who)
	if w, err = conversation.OrAborted(ctx, w, err); err != nil {
		return err
	}
	c.offer(w)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w, c.o = w, &w.Settings.Request
	return nil
}

// offer lets clients run this conversation's operations.
func (c *talker) offer(w *conversation.Conversation) {
	ports := w.Ports()
	h := w.Host(&ports, w.Named)
	h.Begin = c.talk.Begin
	h.RunExclusive = func(ctx context.Context, do func(context.Context)) error {
		free, err := c.talk.RunExclusive(ctx, do)
		if err == nil && !free {
			err = control.ErrBusy
		}
		return err
	}
	h.Unqueue = c.talk.Unqueue
	h.Model = func(name string) error {
		raw, err := json.Marshal(live.Input{Type: "set", Model: name})
		if err == nil {
			err = c.talk.Take(raw, c)
		}
		return err
	}
	changed := h.Changed
	h.Changed = func(name, value string) { c.tell(w); changed(name, value) }
	w.Offer(func() control.Host { return h })
}

// observe handles an event of the conversation.
func (c *talker) observe(e session.Event) {
	c.out.Observe(e)
	c.talk.HandleEvent(e)
}

func (c *talker) conversation() *conversation.Conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w
}

// Set sets the permission mode and the effort.
func (c *talker) Set(mode, effort string) error {
	w := c.conversation()
	err := w.Change(mode, effort)
	if err == nil {
		c.tell(w)
	}
	return err
}

// tell reports the current mode and model, which no event contains.
func (c *talker) tell(w *conversation.Conversation) {
	c.out.PrintMode(string(w.Gate.Mode()), w.Head.Provider, w.Head.Model)
}

// Model reopens the session with another model. If that fails, it continues with the previous one.
func (c *talker) Model(ctx context.Context, name string) error {
	w := c.conversation()
	switch {
	case name == w.Head.Provider+"/"+w.Head.Model:
		return nil
	case c.o.NoSession, c.o.Worktree != "", c.o.Demo, c.o.Record != "", c.o.Replay != "":
		return usage.Mistake("leave --no-session, --worktree, --record, --replay and --demo out", "the model cannot be changed: the session is reopened for that, which this run cannot do")
	}
	next := *c.o
	next.Mode, next.Effort = string(w.Gate.Mode()), w.Session.Effort()
	next.Resume, next.NewID, next.ResumeLast, next.Fork, next.AcceptPlan = "", w.Head.Session, false, false, ""
	if len(w.Session.History()) > 0 {
		next.Resume, next.NewID = w.Head.Session, ""
	}
	before := next
	before.Model = w.Head.Provider + "/" + w.Head.Model
	next.Model = name
	w.Close()
	err := c.open(ctx, &next)
	if err != nil {
		if back := c.open(context.WithoutCancel(ctx), &before); back != nil {
			return fmt.Errorf("%w; the conversation cannot go on: %w", err, back)
		}
	}
	c.conversation().Buffered.Watch(c.out.Observe)
	c.tell(c.conversation())
	return err
}

// Prompt runs one turn.
func (c *talker) Prompt(ctx context.Context, p lineprotocol.Prompt) session.Result {
	started := time.Now()
	w := c.conversation()
	in, err := w.Attach(session.Input{Text: p.Text + p.Texts}, p.Attach, p.Files)
	if err == nil {
		in, err = w.Menu.PromptWithInput(in, p.Text, c.o.Answer.Demand)
		if in.Compose == nil {
			in.Words = p.Text
		}
	}
	if err != nil {
		return process.Failure(err)
	}
	r := c.o.Answer.Structured(w.Answer(ctx, w.Servers.AddResources(in)))
	r.Duration = time.Since(started)
	return r
}

func (c *talker) Steer(text string) bool         { return c.conversation().Session.Steer(text) }
func (c *talker) CancelCall(id tool.CallID) bool { return c.conversation().Session.CancelCall(id) }

// ask asks the program for permission; without one it waits for a client.
func (c *talker) ask(ctx context.Context, q ask.Permission) (ask.Answer, error) {
	if !c.clients.Headless {
		return c.talk.Ask(ctx, q)
	}
	<-ctx.Done()
	return ask.Answer{}, ctx.Err()
}

// put asks the program; without one it waits for a client.
func (c *talker) put(ctx context.Context, q ask.Question) (string, error) {
	if !c.clients.Headless {
		return c.talk.Inquire(ctx, q)
	}
	<-ctx.Done()
	return "", ctx.Err()
}
