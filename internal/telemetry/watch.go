// Package telemetry reports runs of adze to operators, as OpenTelemetry spans (package trace).
//
// The one rule: nothing written by a user, a model or a tool is sent: no prompts, answers,
// arguments, outputs, paths or task names. Only names of providers, models, agents and registered
// tools, fixed words, ids and numbers are.
//
// Start reading at Watch.Session, which observes the events of a session and its subagents;
// spans.go makes a span of each turn, request and call. If telemetry is off, Session returns its
// argument and allocates nothing.
//
// Known limits: requests outside of a session (a title, the repair of arguments, tool selection)
// are not seen. Work running when a process is killed has no span.
package telemetry

import (
	"context"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"adze/internal/sessiondb/audit"
	"adze/internal/telemetry/trace"
	"adze/session"
)

// A Watch observes a process. nil and the zero value observe nothing.
type Watch struct {
	Tracer *trace.Tracer
	Now    func() time.Time // nil for time.Now
	// Provider returns the well-known value for gen_ai.provider.name. If nil, adze's names are
	// used.
	Provider func(name string) string
}

// FromEnv returns a Watch configured by the environment, or nil if telemetry is off. notes are for
// the user.
func FromEnv(getenv func(string) string, version string) (w *Watch, notes []string) {
	if !trace.Enabled(getenv) {
		return nil, nil
	}
	s, notes, err := trace.FromEnv(getenv, version)
	if err != nil {
		return nil, []string{"no traces are sent: " + err.Error()}
	}
	return &Watch{Tracer: trace.New(s)}, notes
}

func (w *Watch) provider(name string) string {
	if w.Provider != nil {
		return w.Provider(name)
	}
	return name
}

func (w *Watch) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

// Session returns an observer that handles each event and passes it to next.
func (w *Watch) Session(id session.ID, next func(session.Event)) func(session.Event) {
	if w == nil || w.Tracer == nil {
		return next
	}
	s := newSpans(w, string(id))
	return func(e session.Event) {
		if r, ok := e.(session.Requested); !ok || r.Provider != audit.Hand { // a user's own call asks no model
			s.see(e)
		}
		next(e)
	}
}

// flushTime limits the wait for the last spans at the end of a process.
const flushTime = 1500 * time.Millisecond

// Close sends the waiting spans. The note describes lost ones, or is "".
func (w *Watch) Close() (note string) {
	if w == nil || w.Tracer == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return w.Tracer.Close(ctx)
}

// in bytes
const maxName = 100

// name prepares a name for sending: no path, one line, limited.
func name(s string) string {
	if filepath.IsAbs(s) || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") || strings.Contains(s, `:\`) {
		return "file" // of a recorded model
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "")
	}
	return s
}

// kindOf returns the kind in a subagent's name, which continues with its task: "general: mend it ›
// explore: look".
func kindOf(agent string) string {
	if at := strings.LastIndex(agent, " › "); at >= 0 {
		agent = agent[at+len(" › "):]
	}
	kind, _, _ := strings.Cut(agent, ": ")
	return name(kind)
}
