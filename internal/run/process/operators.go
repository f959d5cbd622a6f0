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

// Operators sends telemetry about this process. It is created on first use.
type Operators struct {
	once sync.Once
	made *telemetry.Watch
}

// Of creates the telemetry as configured in the environment. notes are for the user and returned
// once.
func (w *Operators) Of(getenv func(string) string) (made *telemetry.Watch, notes []string) {
	w.once.Do(func() {
		if w.made, notes = telemetry.FromEnv(getenv, Version); w.made != nil {
			w.made.Provider = models.InSpans
		}
	})
	return w.made, notes
}

// Close sends pending telemetry and reports failures.
func (w *Operators) Close(to io.Writer) {
	if note := w.made.Close(); note != "" {
		fmt.Fprintf(to, "! traces: %s\n", safeterm.Name(note))
	}
}

// Session adds telemetry to a session's observer if configured. notes are for the user.
func (w *Operators) Session(id session.ID, getenv func(string) string, observe func(session.Event)) (seen func(session.Event), notes []string) {
	made, notes := w.Of(getenv)
	return made.Session(id, observe), notes
}
