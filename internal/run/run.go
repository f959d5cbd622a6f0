package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/cmd/signals"
	"adze/internal/cmd/stdio"
	"adze/internal/live/control"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/outputschema"
	"adze/internal/run/process"
	"adze/internal/stream"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/usage"
	"adze/session"
)

// start runs the root command.
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
	case o.Print:
		a.Exit = headless(a.Process, o, words)
	default:
		return (&terminal{Process: a.Process}).run(o, words)
	}
	return nil
}

// headless runs without a terminal. It prints exactly one result, whatever happens.
func headless(a *process.Process, o *flags.Request, words string) (exit int) {
	format, _ := stream.ParseFormat(o.Format) // checked before
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &stream.Printer{Out: a.Out, Err: a.Err, Format: format, Mask: a.Ring.Mask, Closed: func(error) { cancel(session.ErrClosed) }}
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
	if format == stream.StreamJSON { // the reader may disappear while nothing is written
		watching, enough := context.WithCancel(ctx)
		defer enough()
		stdio.WatchReader(watching, a.Out, func() { cancel(session.ErrClosed) })
	}
	if o.InputFormat == flags.LineInput {
		return p.Finish(newTalker(a, p, cancel).converse(ctx, a.In, o, words))
	}
	return p.Finish(once(ctx, cancel, a, o, p, words))
}

// begin announces the run before its first prompt.
func begin(ctx context.Context, a *process.Process, o *flags.Request, p *stream.Printer, w *conversation.Conversation) error {
	p.Begin(w.Head)
	p.Mode = func() string { return string(w.Gate.Mode()) }
	if err := w.AcceptPlan(ctx, o); err != nil {
		return err
	}
	for _, notice := range w.Notices {
		p.Observe(session.Notice{Text: notice})
	}
	if format, _ := stream.ParseFormat(o.Format); format == stream.Text && w.Head.PermissionMode == string(policy.Yolo) && w.Head.Sandbox.Level == "none" {
		p.Observe(session.Notice{Text: "yolo without a sandbox: each command runs unasked and can do what you can do; --sandbox on runs them in one"})
	}
	return nil
}

// once runs one prompt without a user to ask. Everything it started has ended when it returns.
func once(ctx context.Context, end context.CancelCauseFunc, a *process.Process, o *flags.Request, p *stream.Printer, words string) session.Result {
	started := time.Now()
	in, err := readPrompt(ctx, a, o, words)
	if err != nil {
		return process.Failure(err)
	}
	turn, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	w, err := conversation.Open(ctx, a, *o, p.Observe, conversation.UserCallbacks{Unseen: true, Clients: onePrompt(end, abort)})
	if w, err = conversation.OrAborted(ctx, w, err); err != nil {
		return process.Failure(err)
	}
	defer w.Close()
	ports := w.Ports()
	host := w.Host(&ports, w.Named)
	host.RunExclusive = func(context.Context, func(context.Context)) error { return control.ErrBusy }
	w.Offer(func() control.Host { return host })
	if !o.OnlyDecides(words) {
		in, err = composed(w, o, in, words)
	}
	if err == nil {
		err = begin(ctx, a, o, p, w)
	}
	switch {
	case err != nil:
		return process.Failure(err)
	case o.OnlyDecides(words):
		return w.Buffered.Judge(w.Staging.SettleWaiting(ctx, o.Staged))
	}
	w.Servers.Meet(ctx, func(text string) { p.Observe(session.Notice{Text: text}) })
	w.Buffered.Watch(p.Observe)
	r := w.Staging.DecideAlone(turn, o.Staged, o.Answer.Structured(w.Answer(turn, in)))
	if told := r.Plan.Waits(); told != "" {
		p.Observe(session.Notice{Text: told})
	}
	r = w.Buffered.Judge(r)
	r.Duration = time.Since(started)
	return o.Judge(r)
}

// onePrompt lets clients watch, steer, stop and take over the run.
func onePrompt(end, abort context.CancelCauseFunc) conversation.Clients {
	return conversation.Clients{
		Headless: true,
		Release:  letGo(end),
		Abort:    func() bool { abort(session.ErrInterrupted); return true },
		Prompt: func(lineprotocol.Prompt) error {
			return usage.Mistake("send it as a remark while the turn runs, take the session over, or go on later by adze --resume", "this run answers one prompt, and ends")
		},
	}
}

// letGo returns a function that ends a run when a client takes over its session.
func letGo(end context.CancelCauseFunc) func(to string) {
	return func(to string) { end(fmt.Errorf("%w: it goes on in %s", session.ErrTaken, to)) }
}

// readPrompt reads the prompt from the command line or stdin, its files, and the answer's schema.
func readPrompt(ctx context.Context, a *process.Process, o *flags.Request, words string) (in session.Input, err error) {
	if in.Text = cmp.Or(words, o.Prompt()); !o.Demo && o.Prompt() == "" && !o.OnlyDecides(words) {
		in.Text, err = stdio.Stdin{In: a.In, Err: a.Err}.Prompt(ctx, words, o.Stdin)
	}
	if err == nil {
		in.Attachments, err = hostio.Attachments(o.Attach)
	}
	if err == nil {
		o.Answer, err = outputschema.Read(o.Schema)
	}
	o.Asked = in.Text
	return in, err
}

// composed returns the prompt for the model, with the named command or skill and the answer's
// schema.
func composed(w *conversation.Conversation, o *flags.Request, in session.Input, words string) (session.Input, error) {
	if err := w.MayAttach(o.Attach); err != nil {
		return in, err
	}
	said := cmp.Or(words, in.Text)
	in.Text = cmp.Or(in.Text, w.Prompt)
	in, err := w.Menu.PromptWithInput(in, words, func(text string) string { return o.Answer.Demand(w.HidePiped(text, words)) })
	if err == nil && in.Compose == nil {
		in.Words = said
	}
	return w.Servers.AddResources(in), err
}
