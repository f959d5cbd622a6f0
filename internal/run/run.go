package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/cmd/lineprotocol"
	"adze/internal/cmd/print"
	"adze/internal/cmd/signals"
	"adze/internal/cmd/stdio"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/outputschema"
	"adze/internal/run/process"
	"adze/session"
)

// start is one run of the root command.
func (a *app) start(o *flags.Request, words string) error {
	o.Print = o.Print || !term.IsTerminal(a.In.Fd()) || !term.IsTerminal(a.Out.Fd())
	if err := o.Check(); err != nil {
		return err
	}
	if stdio.ClosedAtStart(a.Out) {
		a.Conclude(session.CauseClosed, "stdout is closed, so nobody would get the answer",
			"redirect it to a file, or write >/dev/null")
		return nil
	}
	switch {
	case o.Background:
		return a.background(o, words)
	case o.Detached:
		a.Exit = detached(a.Process, o, words)
		return nil
	}
	if o.Print {
		a.Exit = headless(a.Process, o, words)
		return nil
	}
	return (&terminal{Process: a.Process}).run(o, words)
}

// headless is a run without a terminal. Whatever happens, it prints exactly one result.
func headless(a *process.Process, o *flags.Request, words string) (exit int) {
	format, _ := print.ParseFormat(o.Format) // checked before
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &print.Printer{Out: a.Out, Err: a.Err, Format: format, Mask: a.Ring.Mask, Closed: func(error) { cancel(session.ErrClosed) }}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.Err, "%s\n", debug.Stack())
			exit = p.Finish(session.Result{Cause: session.CauseInternal, Message: fmt.Sprintf("internal error: %v", r), Hint: "this is a bug of adze"})
		}
	}()
	stop := signals.Watch(cancel, func(c session.Cause) {
		os.Exit(p.Finish(session.Result{Cause: c, Message: string(c)}))
	}, nil)
	defer stop()
	if format == print.StreamJSON { // who reads along may be gone while nothing is written
		watching, enough := context.WithCancel(ctx)
		defer enough()
		stdio.WatchReader(watching, a.Out, func() { cancel(session.ErrClosed) })
	}
	if o.InputFormat == flags.LineInput {
		return p.Finish(converse(ctx, cancel, a, o, p, words))
	}
	return p.Finish(runHeadless(ctx, cancel, a, o, p, words))
}

// runHeadless makes the result; everything that the run started has ended when it returns.
// Prompts of clients that come meanwhile are answered, too.
func runHeadless(ctx context.Context, end context.CancelCauseFunc, a *process.Process, o *flags.Request, p *print.Printer, words string) session.Result {
	started := time.Now()
	prompt, err := "", error(nil)
	if prompt = cmp.Or(words, o.Prompt()); !o.Demo && o.Prompt() == "" && !o.Settles(words) {
		prompt, err = stdio.Stdin{In: a.In, Err: a.Err}.Prompt(ctx, words, o.Stdin)
	}
	if err != nil {
		return process.Failure(err)
	}
	in, err := input(o, prompt)
	if err == nil {
		o.Answer, err = outputschema.Read(o.Schema)
	}
	if err != nil {
		return process.Failure(err)
	}
	o.Asked = prompt
	c := newTalker(a, p, end)
	c.mute, c.clients.Headless, c.talk.Once = true, true, true
	if err := c.open(ctx, o); err != nil {
		return process.Failure(err)
	}
	w := c.w
	defer func() { c.now().Close() }()
	if err := w.MayAttach(o.Attach); err != nil {
		return process.Failure(err)
	}
	if o.Settles(words) {
		if err := begin(ctx, a, o, p, w); err != nil {
			return process.Failure(err)
		}
		return w.Patient.Judge(w.Staging.SettleWaiting(ctx, o.Staged))
	}
	if in.Text == "" {
		in.Text = w.Prompt
	}
	if in, err = w.Menu.Given(in, words, func(text string) string { return o.Answer.Demand(w.HidePiped(text, words)) }); err != nil {
		return process.Failure(err)
	}
	if in.Compose == nil {
		in.Words = cmp.Or(words, prompt)
	}
	in = w.Servers.Dress(in)
	if err := begin(ctx, a, o, p, w); err != nil {
		return process.Failure(err)
	}
	w.Servers.Meet(ctx, func(text string) { p.Observe(session.Notice{Text: text}) })
	w.Patient.Watch(p.Observe)
	c.first = func(ctx context.Context) session.Result {
		r := w.Staging.Settle(ctx, o.Staged, o.Answer.Structured(w.Answer(ctx, in)))
		if told := r.Plan.Waits(); told != "" {
			p.Observe(session.Notice{Text: told})
		}
		return r
	}
	r := c.now().Patient.Judge(c.talk.Run(ctx, nil, c, lineprotocol.Prompt{}))
	r.Duration = time.Since(started)
	return o.Judge(r)
}

// begin tells what this run is, before its first prompt.
func begin(ctx context.Context, a *process.Process, o *flags.Request, p *print.Printer, w *conversation.Conversation) error {
	p.Begin(w.Head)
	p.Mode = func() string { return string(w.Gate.Mode()) }
	if err := w.AcceptPlan(ctx, o); err != nil {
		return err
	}
	for _, notice := range w.Notices {
		p.Observe(session.Notice{Text: notice})
	}
	if format, _ := print.ParseFormat(o.Format); format == print.Text && w.Head.PermissionMode == string(policy.Yolo) && w.Head.Sandbox.Level == "none" {
		p.Observe(session.Notice{Text: "yolo without a sandbox: each command runs unasked and can do what you can do; --sandbox required runs them in one"})
	}
	return nil
}

// input is a prompt with its attachments.
func input(o *flags.Request, prompt string) (session.Input, error) {
	files, err := hostio.Attachments(o.Attach)
	if err != nil {
		return session.Input{}, err
	}
	return session.Input{Text: prompt, Attachments: files}, nil
}
