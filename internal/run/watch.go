package run

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"adze/internal/fleet"
	"adze/internal/llm/models"
	"adze/internal/telemetry"
	"adze/internal/text/safeterm"
	"adze/session"
)

// watching is what tells operators of this process. It is made when it is first asked for.
type watching struct {
	once    sync.Once
	figures *telemetry.Figures // of a process that is asked for them; if nil, it is not
	made    *telemetry.Watch
}

// of makes it as the variables say. Notes are for the user, once.
func (w *watching) of(getenv func(string) string) (made *telemetry.Watch, notes []string) {
	w.once.Do(func() {
		w.made, notes = telemetry.FromEnv(getenv, Version)
		if w.figures != nil && w.made == nil {
			w.made = &telemetry.Watch{}
		}
		if w.figures != nil {
			w.made.Figures = w.figures
		}
		if w.made != nil {
			w.made.Provider = models.InSpans
		}
	})
	return w.made, notes
}

// listen answers for health, readiness and figures until stop. It comes before of.
func (w *watching) listen(address string, ready func() error) (stop func(), err error) {
	figures := telemetry.NewFigures(Version)
	s, err := telemetry.Listen(address, figures, ready)
	if err != nil {
		return nil, misuse("such as --listen localhost:9464", "%v", err)
	}
	w.figures = figures
	return s.Close, nil
}

// worker counts what happens to a worker beside its tasks: what it takes over from others, what it
// loses, and how long the queue is.
func (w *watching) worker(of *fleet.Worker) {
	if w.figures == nil {
		return
	}
	w.figures.Queue(func() (waiting float64, ok bool) {
		ctx, cancel := context.WithTimeout(context.Background(), queueTime)
		defer cancel()
		sizes, err := of.Queue.Sizes(ctx)
		for _, s := range sizes {
			waiting += float64(s.Waiting)
		}
		return waiting, err == nil
	})
	of.Tell = func(e fleet.Event) {
		switch {
		case e.Kind == fleet.Took && e.Run.Attempts > 1:
			w.figures.Again()
		case e.Kind == fleet.LostIt:
			w.figures.Lost()
		}
	}
}

// queueTime bounds how long who reads figures waits for the queue.
const queueTime = 3 * time.Second

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
