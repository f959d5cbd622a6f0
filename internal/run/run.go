package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/cmd"
	"adze/internal/cmd/print"
	"adze/internal/cmd/stdio"
	configpaths "adze/internal/config/paths"
	"adze/internal/policy"
	"adze/internal/project/plan"
	"adze/internal/run/hostio"
	"adze/internal/run/outputschema"
	"adze/internal/run/signals"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// start is one run of the root command.
func (a *app) start(o *options, words string) error {
	o.print = o.print || !term.IsTerminal(a.In.Fd()) || !term.IsTerminal(a.Out.Fd())
	if err := o.check(); err != nil {
		return err
	}
	if stdio.ClosedAtStart(a.Out) {
		a.Conclude(session.CauseClosed, "stdout was closed when adze was started, and nobody would get the answer",
			"redirect it to a file; a /dev/null that is meant has to be opened for writing only, as by >/dev/null")
		return nil
	}
	if o.print {
		a.Exit = a.headless(o, words)
		return nil
	}
	return a.interactive(o, words)
}

func (o *options) check() error {
	if _, err := print.ParseFormat(o.format); err != nil {
		return misuse("adze -p --output-format stream-json …", "%v", err)
	}
	if err := o.checkInput(); err != nil {
		return err
	}
	if o.schema != "" && !o.print {
		return misuse("add --print", "--output-schema is about the answer of a run without a terminal")
	}
	o.Try = o.Try || o.tryPatch != ""
	if o.Try && !o.print {
		return misuse("add --print", "--try is for a run without a terminal; with one, a question about a command offers to try it")
	}
	if o.effort != "" && o.effort != session.DefaultEffort && !slices.Contains(session.Efforts(), o.effort) {
		return misuse("one of "+strings.Join(session.Efforts(), ", ")+", or default", "there is no effort %q", o.effort)
	}
	if o.resume != "" && o.resumeLast {
		return misuse("use one of them", "--continue and --resume exclude each other")
	}
	if o.as != "" && (o.resume != "" || o.resumeLast || o.noSession) {
		return misuse("leave one of them out", "--session-id is of a new session that is stored")
	}
	if len(o.as) > 100 || strings.Trim(o.as, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return misuse("letters, digits, . _ and -, at most 100", "--session-id %q is no name of a session", o.as)
	}
	if o.worktree != "" && o.demo {
		return misuse("leave one of them out", "--demo works in a copy of its own, and --worktree in one of a repository")
	}
	if o.noSession && (o.resume != "" || o.resumeLast) {
		return misuse("leave --no-session out", "--no-session has nothing to continue")
	}
	if o.replay != "" && (o.model != "" || o.record != "" || o.demo) {
		return misuse("leave the other flag out", "--replay takes the place of a model, and records nothing")
	}
	if o.acceptPlan != "" {
		if err := o.checkPlan(); err != nil {
			return err
		}
	}
	if o.fork && o.resume == "" && !o.resumeLast {
		return misuse("add --continue or --resume ID", "--fork copies a session, and none is named")
	}
	if o.maxTurns < 0 || o.maxCalls < 0 || o.maxTokens < 0 || !(o.maxCost >= 0) || o.maxTime < 0 {
		return misuse("0 means unlimited", "a budget cannot be negative")
	}
	return nil
}

// checkPlan takes the mode that goes on with an accepted plan.
func (o *options) checkPlan() error {
	mode, err := policy.ParseMode(o.acceptPlan)
	switch {
	case err != nil:
		return misuse("--accept-plan=edits, or ask, auto or yolo", "--accept-plan: %v", err)
	case mode == policy.Plan:
		return misuse("--accept-plan=edits, or ask, auto or yolo", "--accept-plan ends the plan mode, and cannot go on in it")
	case o.Mode != "":
		return misuse("--accept-plan="+o.Mode, "--accept-plan says the permission mode; leave --permission-mode out")
	case o.resume == "" && !o.resumeLast:
		return misuse("add --continue or --resume ID", "--accept-plan is about the plan of a session, and none is named")
	}
	o.Mode = o.acceptPlan
	return nil
}

// prompt is what to ask where the user said it with a flag.
func (o *options) prompt() string {
	if o.acceptPlan == "" {
		return ""
	}
	return plan.Prompt
}

// headless is a run without a terminal. Whatever happens, it prints exactly one result.
func (a *app) headless(o *options, words string) (exit int) {
	format, _ := print.ParseFormat(o.format) // checked before
	ctx, cancel := context.WithCancelCause(context.Background())
	a.far.Ending(cancel)
	p := &print.Printer{Out: a.Out, Err: a.Err, Format: format, Mask: a.keys.Mask, Closed: func(error) { cancel(session.ErrClosed) }}
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
	if o.inputFormat == inputLines {
		return p.Finish(a.converse(ctx, o, p, words))
	}
	return p.Finish(a.runHeadless(ctx, o, p, words))
}

// runHeadless makes the result; everything that the run started has ended when it returns.
func (a *app) runHeadless(ctx context.Context, o *options, p *print.Printer, words string) session.Result {
	started := time.Now()
	prompt, err := "", error(nil)
	if prompt = cmp.Or(words, o.prompt()); !o.demo && o.prompt() == "" {
		prompt, err = stdio.Stdin{In: a.In, Err: a.Err}.Prompt(ctx, words, o.stdin)
	}
	if err != nil {
		return failure(err)
	}
	in, err := o.input(prompt)
	if err == nil {
		o.answer, err = outputschema.Read(o.schema)
	}
	if err != nil {
		return failure(err)
	}
	o.asked = prompt
	w, err := a.wire(ctx, o, p.Observe, person{})
	if ctx.Err() != nil {
		err = context.Cause(ctx) // an abort explains itself better than what it broke
		w.close()
	}
	if err != nil {
		return failure(err)
	}
	defer w.close()
	if err := w.mayAttach(o.attach); err != nil {
		return failure(err)
	}
	if in.Text == "" {
		in.Text = w.prompt
	}
	if in, err = w.menu.Given(in, words, func(text string) string { return o.answer.Demand(w.hidePiped(text, words)) }); err != nil {
		return failure(err)
	}
	if in.Compose == nil {
		in.Words = cmp.Or(words, prompt)
	}
	in = w.servers.dress(in)
	if err := a.begin(ctx, o, p, w); err != nil {
		return failure(err)
	}
	w.servers.meet(ctx, func(text string) { p.Observe(session.Notice{Text: text}) })
	w.patient.Watch(p.Observe)
	r := w.patient.Judge(o.answer.Structured(w.answer(ctx, in)))
	r.Duration = time.Since(started)
	if told := r.Plan.Waits(); told != "" {
		p.Observe(session.Notice{Text: told})
	}
	return o.judge(r)
}

// begin tells what this run is, before its first prompt.
func (a *app) begin(ctx context.Context, o *options, p *print.Printer, w *wired) error {
	p.Begin(w.head)
	p.Mode = func() string { return string(w.gate.Mode()) }
	if err := w.acceptPlan(ctx, o); err != nil {
		return err
	}
	for _, notice := range w.notices {
		p.Observe(session.Notice{Text: notice})
	}
	if format, _ := print.ParseFormat(o.format); format == print.Text && w.head.PermissionMode == string(policy.Yolo) && w.head.Sandbox.Level == "none" {
		p.Observe(session.Notice{Text: "yolo without a sandbox: each command runs unasked and can do what you can do; --sandbox required runs them in one"})
	}
	return nil
}

// input is a prompt with its attachments.
func (o *options) input(prompt string) (session.Input, error) {
	files, err := hostio.Attachments(o.attach)
	if err != nil {
		return session.Input{}, err
	}
	return session.Input{Text: prompt, Attachments: files}, nil
}

// mayAttach holds files that a user attaches to their rules: naming one answers what would be
// asked, and no deny.
func (w *wired) mayAttach(paths []string) error {
	for _, path := range paths {
		if why := w.gate.Forbids(tool.Need{Permission: tool.Read, Target: configpaths.Absolute(path)}); why != "" {
			return misuse("attach another file, or change the rule", "--attach %s: %s", path, why)
		}
	}
	return nil
}

// enclose adds what a client sent along, no larger than it is kept.
func (w *wired) enclose(in session.Input, files []tool.Attachment) (session.Input, error) {
	for _, a := range files {
		kept, err := hostio.Bounded(a)
		if err != nil {
			return in, misuse("attach a smaller one", "%s: %v", a.Name, err)
		}
		in.Attachments = append(in.Attachments, kept)
	}
	return in, nil
}

// judge turns a finished run into a failed one where denials were asked to count.
func (o *options) judge(r session.Result) session.Result {
	if r.Cause != session.CauseDone || !o.failOnDeny {
		return r
	}
	calls, refused := 0, 0
	for _, d := range r.Denied {
		switch {
		case d.Kind == "":
			calls++
		case !d.Hint:
			refused++
		}
	}
	var told []string
	if calls > 0 {
		told = append(told, fmt.Sprintf("%d calls were denied", calls))
	}
	if refused > 0 {
		told = append(told, fmt.Sprintf("the sandbox refused %s", plural.Of(refused, "thing")))
	}
	if len(told) > 0 {
		r.Cause, r.Message = session.CauseDenied, strings.Join(told, ", ")
		r.Hint = "allow them with " + allowing(r.Denied) + ", or run without --fail-on-deny"
	}
	return r
}

// allowing are the flags that would allow what was denied, at most three of them.
func allowing(denied []session.Denial) string {
	var rules []string
	for _, d := range denied {
		for _, rule := range d.Allow {
			if !slices.Contains(rules, rule) && redact.Passwords(rule) == rule {
				rules = append(rules, rule)
			}
		}
	}
	switch {
	case len(rules) == 0:
		return "--allow"
	case len(rules) > 3:
		return cmd.AllowFlags(rules[:3]) + " and so on"
	}
	return cmd.AllowFlags(rules)
}

// sortedNames joins names for a message.
func sortedNames(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return out
}
