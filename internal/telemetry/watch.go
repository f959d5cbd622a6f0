// Package telemetry tells operators what runs of adze do, by spans for OpenTelemetry (package
// trace).
//
// The one rule: nothing that a user, a model or a tool said or wrote leaves: no prompts, answers,
// arguments, outputs, paths or names of tasks. What leaves are names of providers, models, agents
// and registered tools, fixed words, ids and numbers.
//
// Start reading at Watch.Session: it observes the events of one session, of its subagents too;
// spans.go makes a span of each turn, request and call. Where nothing watches, Session returns what
// it got, and nothing is made.
//
// Known limits: requests that belong to no session (a title, the repair of arguments, the choice of
// tools) are not seen. What was running when a process is killed has no span.
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

// Watch is what observes a process. Nil, and the zero value: nothing does.
type Watch struct {
	Tracer *trace.Tracer
	Now    func() time.Time // if nil, time.Now
	// Provider gives the well-known value of gen_ai.provider.name; if nil, adze's own names.
	Provider func(name string) string
}

// FromEnv makes a Watch with what the variables ask for; if nil, nothing. Notes are for the user.
func FromEnv(getenv func(string) string, version string) (w *Watch, notes []string) {
	if !trace.On(getenv) {
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

// Session has the events of one session seen on their way to next.
func (w *Watch) Session(id session.ID, next func(session.Event)) func(session.Event) {
	if w == nil || w.Tracer == nil {
		return next
	}
	s := newSpans(w, string(id))
	return func(e session.Event) {
		if r, ok := e.(session.Requested); !ok || r.Provider != audit.Hand { // a user asks no model
			s.see(e)
		}
		next(e)
	}
}

// flushTime bounds how long the end of a process waits for its last spans.
const flushTime = 1500 * time.Millisecond

// Close sends what waits to be sent. The note says what did not arrive; if empty, all did.
func (w *Watch) Close() (note string) {
	if w == nil || w.Tracer == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return w.Tracer.Close(ctx)
}

// maxName bounds a name, in bytes.
const maxName = 100

// name is a name as it may leave: no path, one line, bounded.
func name(s string) string {
	if filepath.IsAbs(s) || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~") || strings.Contains(s, `:\`) {
		return "file" // of a model that is written down
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

// kindOf is the kind of the subagent with this name, which goes on with what its task is called:
// "general: mend it › explore: look".
func kindOf(agent string) string {
	if at := strings.LastIndex(agent, " › "); at >= 0 {
		agent = agent[at+len(" › "):]
	}
	kind, _, _ := strings.Cut(agent, ": ")
	return name(kind)
}
