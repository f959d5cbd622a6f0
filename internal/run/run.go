package run

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/charmbracelet/x/term"

	"adze/internal/cmd/signals"
	"adze/internal/cmd/stdio"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/stream"
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
