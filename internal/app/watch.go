package app

import (
	"fmt"
	"io"
	"sync"

	"adze/internal/safeterm"
	"adze/internal/watch"
	"adze/session"
)

// watching is what tells operators of this process. It is made when it is first asked for.
type watching struct {
	once    sync.Once
	figures *watch.Figures // of a process that is asked for them; nil: it is not
	made    *watch.Watch
}

// of makes it as the variables say. Notes are for the person, once.
func (w *watching) of(getenv func(string) string) (made *watch.Watch, notes []string) {
	w.once.Do(func() {
		w.made, notes = watch.FromEnv(getenv, Version)
		if w.figures != nil && w.made == nil {
			w.made = &watch.Watch{}
		}
		if w.figures != nil {
			w.made.Figures = w.figures
		}
	})
	return w.made, notes
}

// listen answers for health, readiness and figures until stop. It comes before of.
func (w *watching) listen(address string, ready func() error) (figures *watch.Figures, stop func(), err error) {
	figures = watch.NewFigures(Version)
	s, err := watch.Listen(address, figures, ready)
	if err != nil {
		return nil, nil, misuse("such as --listen 127.0.0.1:9464", "%v", err)
	}
	w.figures = figures
	return figures, s.Close, nil
}

// close sends what waits to be sent, and tells what could not be.
func (w *watching) close(to io.Writer) {
	if note := w.made.Close(); note != "" {
		fmt.Fprintf(to, "! traces: %s\n", safeterm.Name(note))
	}
}

// session has operators see what a session does, where they asked for it.
func (w *watching) session(of *wired, id session.ID, getenv func(string) string, observe func(session.Event)) func(session.Event) {
	made, notes := w.of(getenv)
	of.notices = append(of.notices, notes...)
	return made.Session(id, observe)
}
