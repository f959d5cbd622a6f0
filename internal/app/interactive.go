package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"adze/internal/policy"
	"adze/internal/print"
	"adze/internal/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui"
)

// interactive is a run in a terminal. The interface is made last, because it shows what was wired; what is
// wired talks to it through two small functions.
func (a *app) interactive(o *options, words string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var ended session.Cause
	stop := watchSignals(func(err error) { ended = session.Sort(err).Cause; cancel(err) }, func(c session.Cause) { os.Exit(print.ExitCode(c)) })
	defer stop()
	var ui *tui.UI
	w, err := a.wire(ctx, o, func(e session.Event) { ui.Observe(e) }, func(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
		return askPerson(ctx, ui, q, p)
	})
	if err != nil {
		return err
	}
	if words == "" {
		words = w.prompt
	}
	in, err := o.input(words)
	if err != nil {
		w.close()
		return err
	}
	first := in.Attachments
	ui = tui.New(tui.Options{
		Send: func(ctx context.Context, p tui.Prompt) session.Result {
			turn := session.Input{Text: p.Text, Attachments: first}
			first = nil
			return w.session.Prompt(ctx, turn)
		},
		Blocks:  w.set.Blocks,
		History: replayed(w),
		Info:    infoOf(w, words),
		In:      a.in, Out: a.out, Env: a.getenv,
	})
	err = ui.Run(ctx)
	w.close()
	a.farewell(o, w)
	a.exit = print.ExitCode(ended)
	if ended == "" {
		a.exit = 0
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func infoOf(w *wired, prompt string) tui.Info {
	return tui.Info{
		Version: Version, Model: w.head.Provider + "/" + w.head.Model, Mode: w.head.PermissionMode,
		Session: w.head.Session, Cwd: w.head.Cwd, Sandbox: w.head.Sandbox.Level, Notices: w.notices, Prompt: prompt,
	}
}

// askPerson shows the gate's question.
func askPerson(ctx context.Context, ui *tui.UI, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	var preview []tool.Block
	if q.Preview != nil {
		preview = q.Preview(ctx)
	}
	answer, err := ui.Ask(ctx, tui.Ask{Question: q, Preview: preview, Rule: strings.Join(p.Rules, "\n"), Why: reasons(p)})
	if err != nil {
		return policy.Answer{}, err
	}
	switch answer.Choice {
	case tui.Once:
		return policy.Answer{Choice: policy.Once}, nil
	case tui.ForSession:
		return policy.Answer{Choice: policy.Session}, nil
	}
	return policy.Answer{Choice: policy.No, Reason: answer.Reason}, nil
}

func reasons(p policy.Prompt) string {
	var out []string
	for _, item := range p.Items {
		out = append(out, item.Reason)
	}
	return strings.Join(out, "; ")
}

// replayed turns a resumed conversation into the events that once drew it.
func replayed(w *wired) []session.Event {
	var events []session.Event
	for _, m := range w.history {
		if m.Role != session.ToolRole {
			events = append(events, session.MessageDone{Message: m})
			continue
		}
		for _, p := range m.Parts {
			if p.Outcome != nil {
				events = append(events, session.ToolEnd{Outcome: *p.Outcome})
			}
		}
	}
	return events
}

// farewell says how to come back.
func (a *app) farewell(o *options, w *wired) {
	if o.noSession || o.demo || len(w.session.History()) == 0 {
		return
	}
	fmt.Fprintf(a.err, "adze --resume %s goes on from here\n", safeterm.Name(string(w.session.ID())))
}
