package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"adze/internal/cmd/print"
	"adze/internal/policy"
	"adze/internal/run/hostio"
	"adze/internal/run/signals"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui"
	"adze/tui/api"
	"adze/tui/plain"
)

// interactive is a run in a terminal: one sitting after the other, until the user quits.
func (a *app) interactive(o *options, words string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a.far.Ending(cancel)
	var ended session.Cause
	stop := signals.Watch(func(err error) { ended = session.Sort(err).Cause; cancel(err) },
		func(c session.Cause) { a.giveBack(); os.Exit(print.ExitCode(c)) },
		func() bool { ui := a.front.Load(); return ui != nil && ui.Interrupt() })
	defer stop()
	err := a.sittings(ctx, o, words)
	if lost := (*session.ComposeError)(nil); errors.As(context.Cause(ctx), &lost) {
		ended = lost.Cause
		print.Complain(print.Masked{To: a.Err, By: a.keys.Mask()}, lost.Message, lost.Hint)
	}
	a.Exit = print.ExitCode(ended)
	if ended == "" {
		a.Exit = 0
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// sittings follows the user from session to session and from model to model. What cannot be
// opened leads back to where they were.
func (a *app) sittings(ctx context.Context, o *options, words string) error {
	var back *options
	notice, keep := "", false
	first := chooser{app: a, given: *o}
	for {
		s := &sitting{app: a, o: o}
		err := s.open(ctx, words)
		if errors.Is(err, session.ErrLocked) {
			if taken, err := readAlong(ctx, a, o); !taken {
				return err
			}
			continue
		}
		if err != nil && back != nil {
			r := failure(err)
			notice, o, back, keep = "error: "+r.Message+"\nhint: "+r.Hint, back, nil, false
			continue
		}
		if err != nil {
			if o, err = first.again(ctx, err); err != nil {
				return err
			}
			if o.demo {
				words = "" // it has its own
			}
			continue
		}
		if keep {
			keep, notice = false, keepModel(s.w)
		}
		if notice != "" {
			s.w.notices, notice = append(s.w.notices, notice), ""
		}
		next, err := s.run(ctx)
		notice = s.w.tellEnded()
		if s.wanted {
			stay := o.follow(api.Next{Session: s.w.head.Session}, s.w)
			if taken, err := readAlong(ctx, a, &stay); !taken {
				return err
			}
			o, back, words = &stay, nil, ""
			continue
		}
		if err != nil || next == (api.Next{}) {
			a.farewell(o, s.w)
			a.tidyUp(o, s.w)
			return err
		}
		stay := o.follow(api.Next{Session: s.w.head.Session}, s.w)
		back, o, words, keep = &stay, new(options), "", next.Keep
		*o = stay.follow(next, s.w)
	}
}

// follow is how to start what comes next. A session in which nothing was said is not stored: it
// starts anew.
func (o options) follow(next api.Next, w *wired) options {
	o.resumeLast, o.fork, o.attach, o.at = false, next.Fork, nil, next.At
	o.Mode = string(w.gate.Mode())
	o.model = cmp.Or(next.Model, w.head.Provider+"/"+w.head.Model)
	o.resume, o.effort = next.Session, w.session.Effort()
	if next.New || next.Session == w.head.Session && len(w.session.History()) == 0 {
		o.resume, o.fork = "", false
	}
	if o.resume != w.head.Session && o.resume != "" {
		o.effort = "" // it has its own
	}
	if o.resume == w.head.Session || o.resume == "" {
		o.Cwd = w.head.Cwd
	} else if dir, ok := w.folderOf(o.resume); ok {
		o.Cwd = dir
	}
	if o.Cwd != w.head.Cwd && o.Mode == w.chosen {
		o.Mode = "" // it was chosen for the other folder
	}
	return o
}

// folderOf is where a stored session works.
func (w *wired) folderOf(id string) (string, bool) {
	w.listed.Lock()
	defer w.listed.Unlock()
	for _, h := range w.heads {
		if h.ID == id {
			return h.Cwd, h.Cwd != ""
		}
	}
	return "", false
}

// sitting is the time between opening a session and leaving it. The interface is made last, because
// it shows what was wired; what is wired talks to it through two small functions.
type sitting struct {
	app      *app
	o        *options
	w        *wired
	ui       *tui.UI
	own      ownCommand
	words    string
	first    []tool.Attachment // of the first prompt
	wanted   bool              // it ended because another process wants its session
	entitled bool              // a model was asked for a title
	offered  chan struct{}     // closed when the user was asked how commands run
}

func (s *sitting) open(ctx context.Context, words string) (err error) {
	s.w, err = s.app.wire(ctx, s.o, func(e session.Event) { s.ui.Observe(hostio.VeiledEvent(e)) }, person{s.ask, s.inquire, s.review, s.rewrite, func() { s.ui.Stir() }, nil})
	if err != nil {
		return err
	}
	s.w.begins(ctx, s.o)
	in, err := s.o.input(cmp.Or(words, s.w.prompt, s.o.prompt()))
	if err == nil {
		err = s.w.mayAttach(s.o.attach)
	}
	if err == nil {
		err = s.w.acceptPlan(ctx, s.o)
	}
	if err != nil {
		s.w.close()
		return err
	}
	s.words, s.first = in.Text, in.Attachments
	return nil
}

func (s *sitting) run(ctx context.Context) (api.Next, error) {
	if s.app.linesOnly(s.o) && s.app.lines == nil {
		s.app.lines = plain.ReadLines(s.app.In)
	}
	s.ui = tui.New(tui.Options{
		Send: s.send, Ports: s.app.ports(s.o, s.w, &s.own),
		Blocks: func(name string, metadata json.RawMessage) []tool.Block {
			return hostio.VeiledBlocks(s.w.set.Blocks(name, metadata))
		},
		History: replayed(s.w), At: s.o.at,
		Info:   s.info(),
		Theme:  cmp.Or(s.o.theme, s.w.settings.config.Interface.Theme),
		Inline: s.w.settings.config.Interface.Inline, Shown: s.o.shown == s.w.head.Session,
		Vim: s.w.settings.config.Interface.Keys == "vim", Keys: s.w.settings.config.BoundKeys(),
		In: s.app.In, Lines: s.app.lines, Out: s.app.Out, Env: s.app.Getenv,
	})
	s.app.front.Store(s.ui)
	s.w.patient.Watch(s.ui.Observe)
	heeding, stop := s.heed(ctx)
	s.offered = make(chan struct{})
	go func() { defer close(s.offered); s.offer(heeding) }()
	var err error
	if s.app.linesOnly(s.o) {
		err = s.ui.RunPlain(heeding)
	} else if err = s.ui.Run(heeding); s.o.transcript && !s.w.settings.config.Interface.Inline {
		fmt.Fprint(s.app.Out, s.ui.Transcript())
	}
	s.o.theme, s.o.shown = s.ui.Theme(), s.w.head.Session
	stop(&err)
	s.w.close()
	return s.ui.Next(), err
}

// linesOnly reports whether the interface writes plain lines.
func (a *app) linesOnly(o *options) bool { return o.plain || a.Getenv("TERM") == "dumb" }

func (s *sitting) send(ctx context.Context, p api.Prompt) session.Result {
	select {
	case <-s.offered:
	case <-ctx.Done():
		return session.Sort(ctx.Err())
	}
	files, err := hostio.Attachments(p.Attach)
	if err == nil {
		err = s.w.mayAttach(p.Attach)
	}
	if err != nil {
		return failure(err)
	}
	if k, task, ok := s.w.addressed(p.Text); ok && len(files)+len(s.first) == 0 {
		return s.w.give(ctx, k, task)
	}
	in, _ := s.w.menu.Prompt(p.Text, "", false) // what no command is called is text
	in = s.w.servers.dress(in)
	in.Attachments = append(s.first, files...)
	s.first = nil
	r := s.w.session.Prompt(ctx, in)
	s.entitled = s.entitled || s.app.entitle(s.o, s.w, in.Text, r, s.ui.Observe, nil)
	return r
}

func (s *sitting) ask(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
	if s.own.is(q) {
		return policy.Answer{Choice: policy.Once}, nil
	}
	return s.askPerson(ctx, q, p)
}

func (s *sitting) info() tui.Info {
	w := s.w
	return tui.Info{
		Version: Version, Model: w.head.Provider + "/" + w.head.Model, Mode: w.head.PermissionMode, Effort: w.effort(),
		Session: w.head.Session, Cwd: w.head.Cwd, Sandbox: w.head.Sandbox.Level, Notices: w.notices, Prompt: s.words,
		Instructions: s.told(), Config: w.settings.file, Commands: w.named, Agents: w.addressees(),
	}
}

// told names the instruction files of this session. Reading them failed when it was wired, if at
// all.
func (s *sitting) told() []string {
	var names []string
	for _, f := range s.w.room.Files() {
		names = append(names, f.Shown)
	}
	return names
}

// replayed turns a resumed conversation into the events that once drew it, and tells what fills the
// context.
func replayed(w *wired) []session.Event {
	var events []session.Event
	failed := w.session.Failed()
	var ends []session.Result // of the turn whose last calls come
	end := func(of string) {
		for _, r := range ends {
			events = append(events, session.TurnEnd{Result: r})
		}
		ends = failed[of]
	}
	end("")
	for _, m := range slices.Concat(w.session.Earlier(), w.session.History()) {
		if m.Role != session.ToolRole {
			end(m.ID)
		}
		if o, ok := w.session.Ran(m.Own); ok {
			events = append(events, session.ToolEnd{Outcome: o}) // as it was drawn when it ran; the message is the model's
			continue
		}
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
	end("")
	if c, e := w.session.Claims(), w.session.Evidence(); len(c)+len(e) > 0 {
		events = append(events, session.Claimed{Claims: c, Evidence: e})
	}
	return append(events, session.Counted{Ledger: w.session.Ledger()})
}

// farewell says how to come back.
func (a *app) farewell(o *options, w *wired) {
	if ended := w.tellEnded(); ended != "" {
		fmt.Fprintf(a.Err, "! %s\n", safeterm.Name(ended))
	}
	if r := w.patient.Judge(session.Result{}); r.Message != "" {
		print.Complain(print.Masked{To: a.Err, By: a.keys.Mask()}, r.Message, r.Hint)
	}
	if o.noSession || o.demo || len(w.session.History()) == 0 {
		return
	}
	fmt.Fprintf(a.Err, "adze --resume %s%s goes on from here\n", safeterm.Name(string(w.session.ID())), safeterm.Name(a.far.Named()))
}
