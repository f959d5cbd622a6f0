package process

import (
	"fmt"
	"io"
	"sync"

	"adze/internal/llm/models"
	"adze/internal/telemetry"
	"adze/internal/text/safeterm"
	"adze/session"
)

// Operators is what tells operators of this process. It is made when it is first asked for.
type Operators struct {
	once sync.Once
	made *telemetry.Watch
}

// Of makes it as the variables say. Notes are for the user, once.
func (w *Operators) Of(getenv func(string) string) (made *telemetry.Watch, notes []string) {
	w.once.Do(func() {
		if w.made, notes = telemetry.FromEnv(getenv, Version); w.made != nil {
			w.made.Provider = models.InSpans
		}
	})
	return w.made, notes
}

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
