package process

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
	"adze/internal/text/usage"
	"adze/session"
)

// Operators is what tells operators of this process. It is made when it is first asked for.
type Operators struct {
	once    sync.Once
	figures *telemetry.Figures // of a process that is asked for them; if nil, it is not
	made    *telemetry.Watch
}

// Of makes it as the variables say. Notes are for the user, once.
func (w *Operators) Of(getenv func(string) string) (made *telemetry.Watch, notes []string) {
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

// Listen answers for health, readiness and figures until stop. It comes before Of.
func (w *Operators) Listen(address string, ready func() error) (stop func(), err error) {
	figures := telemetry.NewFigures(Version)
	s, err := telemetry.Listen(address, figures, ready)
	if err != nil {
		return nil, usage.Mistake("such as --listen localhost:9464", "%v", err)
	}
	w.figures = figures
	return s.Close, nil
}

// Worker counts what happens to a worker beside its tasks: what it takes over from others, what it
// loses, and how long the queue is.
func (w *Operators) Worker(of *fleet.Worker) {
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

// Close sends what waits to be sent, and tells what could not be.
func (w *Operators) Close(to io.Writer) {
	if note := w.made.Close(); note != "" {
		fmt.Fprintf(to, "! traces: %s\n", safeterm.Name(note))
	}
}

// Session has operators see what a session does, where they asked for it. Notes are for the user.
func (w *Operators) Session(id session.ID, getenv func(string) string, observe func(session.Event)) (seen func(session.Event), notes []string) {
	made, notes := w.Of(getenv)
	return made.Session(id, observe), notes
}
