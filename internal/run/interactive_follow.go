package run

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/stream/lineprotocol"
	"adze/session"
	"adze/session/api"
)

// readAlong shows the session that could not be opened until the user leaves. taken means that it
// is taken over here.
func readAlong(ctx context.Context, a *terminal, o *flags.Request, theme string) (taken bool, err error) {
	path := filepath.Join(paths.FromEnv(a.Getenv).State, "sessions.db")
	logs, err := sessiondb.Look(ctx, path, sessiondb.Options{})
	if err != nil {
		return false, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	defer logs.Close()
	dir, err := settings.RealFolderOf(a.Process, &o.Run)
	if err != nil {
		return false, err
	}
	w := &attachedView{app: a, logs: logs, folder: live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State)}
	if w.id, _, err = lookup.Pick(ctx, lookup.Selection{ID: o.Resume, Last: o.ResumeLast}, logs, dir); err != nil {
		return false, err
	}
	if err := w.run(ctx, o, theme); err != nil {
		return false, err
	}
	o.Resume, o.ResumeLast = string(w.id), false
	return w.takenOver.Load(), nil
}

// placeOf returns a session's place.
func placeOf(p *process.Process, logs *sessiondb.Store, id session.ID) live.Place {
	return live.Place{ID: id, Folder: live.Folder(p.Getenv, paths.FromEnv(p.Getenv).State), Holder: func() string { return logs.Holder(id) }}
}

// clients returns the callbacks for the user's other processes. Their prompts and aborts are
// handled like the user's keys.
func (s *interactiveRun) clients() conversation.Clients {
	s.wanting = make(chan string, 1)
	return conversation.Clients{
		Prompt: func(p lineprotocol.Prompt) error {
			s.ui.Prompt(api.Prompt{Text: p.Text, Texts: p.Texts, Attach: p.Attach, Attachments: p.Files})
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
		Release: func(to string) {
			select {
			case s.wanting <- to:
			default: // already releasing
			}
		},
	}
}

// offers lets clients run this interface's operations, which are handled like the user's keys.
func (s *interactiveRun) offers(p *api.Ports) {
	h := s.w.Host(p, s.w.Named)
	h.Begin = func(do func(context.Context) session.Result) error {
		return busy(s.ui.Work(context.Background(), func(ctx context.Context) session.Result {
			ctx, end := s.abortable(ctx)
			defer end()
			return do(ctx)
		}))
	}
	h.RunExclusive = func(ctx context.Context, do func(context.Context)) error { return busy(s.ui.RunExclusive(ctx, do)) }
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

// abortable returns a context that a client's abort cancels.
func (s *interactiveRun) abortable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.abort.Store(&cancel)
	return ctx, func() { s.abort.Store(nil); cancel(nil) }
}

// heed ends the interface when another process requests its session; after stop, s.wanted reports
// that.
func (s *interactiveRun) heed(ctx context.Context) (heeding context.Context, stop func(*error)) {
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
