package run

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"adze/internal/cmd/lineprotocol"
	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/sessiondb/tail"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tui"
	"adze/tui/api"
	"adze/tui/plain"
)

// reader is the interface on a session that another process writes: it shows what happens there,
// and can take it over.
type reader struct {
	app   *terminal
	logs  *sessiondb.Store
	id    session.ID
	leave context.CancelFunc
	taken atomic.Bool

	folder string // of the sockets of live sessions
}

// readAlong shows the session that was to be opened until the user leaves. Taken says that they
// go on with it here.
func readAlong(ctx context.Context, a *terminal, o *flags.Request, theme string) (taken bool, err error) {
	path := filepath.Join(paths.Of(a.Getenv).State, "sessions.db")
	logs, err := sessiondb.Look(ctx, path, sessiondb.Options{})
	if err != nil {
		return false, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	defer logs.Close()
	dir, err := settings.RealFolderOf(a.Process, &o.Run)
	if err != nil {
		return false, err
	}
	r := &reader{app: a, logs: logs}
	if r.id, _, err = lookup.Pick(ctx, lookup.Wish{ID: o.Resume, Last: o.ResumeLast}, logs, dir); err != nil {
		return false, err
	}
	if r.folder = live.Folder(a.Getenv, paths.Of(a.Getenv).State); live.Available() {
		window := &attached{reader: r}
		if err := window.run(ctx, o, theme); err != nil {
			return false, err
		}
	} else if err := r.run(ctx, o, theme); err != nil {
		return false, err
	}
	o.Resume, o.ResumeLast = string(r.id), false
	return r.taken.Load(), nil
}

const takeIt = "take"

func (r *reader) run(ctx context.Context, o *flags.Request, theme string) error {
	reading, leave := context.WithCancel(ctx)
	defer leave()
	r.leave = leave
	a := r.app
	if a.linesOnly(&o.Run) && a.lines == nil {
		a.lines = plain.ReadLines(a.In)
	}
	ui := tui.New(tui.Options{
		Send: r.send, Theme: theme, In: a.In, Lines: a.lines, Out: a.Out, Env: a.Getenv,
		Info: tui.Info{Version: Version, Mode: "read-only", Session: string(r.id), Back: o.Back,
			Commands: func() []api.Named {
				return []api.Named{{Name: takeIt, Help: "go on with the session here; who has it ends its turn and reads along"}}
			}},
	})
	a.front.Store(ui)
	f := &tail.Follower{Store: r.logs, ID: r.id, Emit: ui.Observe}
	f.Held = func(who string) { ui.Observe(session.Notice{Text: state(who)}) }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f.Run(reading); reading.Err() == nil {
			ui.Observe(session.Notice{Text: "the session cannot be read further: " + err.Error()})
		}
	}()
	var err error
	if a.linesOnly(&o.Run) {
		err = ui.RunPlain(reading)
	} else {
		err = ui.Run(reading)
	}
	leave()
	<-ended
	if r.taken.Load() {
		return nil
	}
	return err
}

// placeOf is where a session is had.
func placeOf(p *process.Process, logs *sessiondb.Store, id session.ID) live.Place {
	return live.Place{ID: id, Folder: live.Folder(p.Getenv, paths.Of(p.Getenv).State), Locks: logs.Locks(), Holder: func() string { return logs.Holder(id) }}
}

// state says who has the session, and what can be done.
func state(who string) string {
	if who == "" {
		return "nobody has the session any more; /take goes on with it here"
	}
	return who + " has this session: it is shown here as it goes on, and only read; /take goes on with it here"
}

// send takes the only word that means something here.
func (r *reader) send(ctx context.Context, p api.Prompt) session.Result {
	if strings.TrimPrefix(strings.TrimSpace(p.Text), "/") != takeIt {
		return process.Failure(usage.Mistake("/take goes on with it here; a copy is adze --resume "+string(r.id)+" --fork", "nothing can be said here: %s", state(r.logs.Holder(r.id))))
	}
	if err := tail.Take(ctx, r.logs, r.id); err != nil {
		result := process.Failure(err)
		result.Cause, result.Hint = session.CauseStore, "try again, or end that process"
		return result
	}
	r.taken.Store(true)
	r.leave()
	return session.Result{Cause: session.CauseDone}
}

// clients are other processes of the user. Their prompts and aborts take the way of the user's own
// keys.
func (s *sitting) clients() conversation.Clients {
	s.wanting = make(chan string, 1)
	return conversation.Clients{
		Prompt: func(p lineprotocol.Prompt) error {
			s.ui.Prompt(api.Prompt{Text: p.Text, Beside: p.Beside, Attach: p.Attach, Sent: p.Files})
			return nil
		},
		Abort: func() bool {
			abort := s.abort.Load()
			if abort != nil {
				(*abort)(session.ErrInterrupted)
			}
			return abort != nil
		},
		InMode: func(mode string) { s.ui.InMode(mode) },
		Waits: func() (queued, steered []string) {
			if w := s.waits.Load(); w != nil {
				return w[0], w[1]
			}
			return nil, nil
		},
		LetGo: func(to string) {
			select {
			case s.wanting <- to:
			default: // it lets go already
			}
		},
	}
}

// offers lets clients ask for what can be done here. It takes the way of the user's own keys.
func (s *sitting) offers(p *api.Ports) {
	h := s.w.Host(p, s.w.Named)
	h.Begin = func(do func(context.Context) session.Result) error {
		return busy(s.ui.Work(context.Background(), func(ctx context.Context) session.Result {
			ctx, end := s.abortable(ctx)
			defer end()
			return do(ctx)
		}))
	}
	h.Alone = func(ctx context.Context, do func(context.Context)) error { return busy(s.ui.Aside(ctx, do)) }
	h.Unqueue = func(text string) bool { return s.ui.Unqueue(context.Background(), text) }
	if p.Switch {
		h.Model = func(name string) error {
			return busy(s.ui.GoOn(context.Background(), api.Next{Session: s.w.Head.Session, Model: name}))
		}
	}
	changed, rewound := h.Changed, h.Rewound
	h.Changed = func(name, value string) {
		if name == "mode" {
			s.ui.InMode(value)
		} else {
			s.ui.AtEffort(value)
		}
		changed(name, value)
	}
	h.Rewound = func(prompts bool) {
		if prompts {
			s.ui.Rewound()
		}
		rewound(prompts)
	}
	s.w.Offer(func() control.Host { return h })
}

func busy(free bool) error {
	if !free {
		return control.ErrBusy
	}
	return nil
}

// abortable is a context that a client's abort ends.
func (s *sitting) abortable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.abort.Store(&cancel)
	return ctx, func() { s.abort.Store(nil); cancel(nil) }
}

// heed has the interface end when another process wants its session; s.wanted tells that, after
// stop.
func (s *sitting) heed(ctx context.Context) (heeding context.Context, stop func(*error)) {
	if s.w.Shown() == nil { // its clients have no socket to ask by
		return s.heedNotes(ctx)
	}
	heeding, cancel := context.WithCancel(ctx)
	var wanted atomic.Bool
	go func() {
		select {
		case <-s.wanting:
			wanted.Store(true)
			cancel()
		case <-heeding.Done():
		}
	}()
	return heeding, func(err *error) {
		cancel()
		if s.wanted = wanted.Load(); s.wanted {
			*err = nil
		}
	}
}

// heedNotes is heed for notes beside the lock.
func (s *sitting) heedNotes(ctx context.Context) (heeding context.Context, stop func(*error)) {
	logs, ok := s.w.Stored.(*sessiondb.Store)
	if !ok {
		return ctx, func(*error) {}
	}
	heeding, who, end := tail.Heed(ctx, logs, s.w.Session.ID())
	return heeding, func(err *error) {
		if s.wanted = who() != ""; s.wanted {
			*err = nil
		}
		end()
	}
}
