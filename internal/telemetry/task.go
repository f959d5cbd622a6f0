package telemetry

import (
	"adze/internal/telemetry/trace"
)

// Task counts a task of a batch that begins, and begins its span: what its adze does stands below
// it by env.
func (w *Watch) Task() (env []string, over func(ok bool, cause string)) {
	ended := w.Figures.Begun()
	var span *open
	if w.Tracer != nil {
		up, began := w.Tracer.Begin(), w.now()
		span = &open{Place: up, up: up.Span, began: began}
		span.Span = trace.NewSpanID()
		env = []string{"TRACEPARENT=" + span.Parent(), "TRACESTATE=" + span.State}
	}
	return env, func(ok bool, cause string) {
		outcome := map[bool]string{true: "ok", false: "failed"}[ok]
		if cause == "" {
			outcome, cause = "stopped", "stopped"
		}
		ended(outcome, cause)
		if span != nil {
			w.Tracer.Add(trace.Span{Place: span.Place, Up: span.up, Name: "adze.task", Kind: trace.Internal, Start: span.began, End: w.now(), Failed: !ok,
				Attributes: []trace.Attribute{{Key: "adze.task.outcome", Value: outcome}, {Key: "adze.task.cause", Value: cause}}})
		}
	}
}

// Wants says whether a line of a run in another process is counted.
func (w *Watch) Wants(start []byte) bool { return w.Figures != nil && Tells(start) }

// Line counts it.
func (w *Watch) Line(line []byte) { w.Figures.Line(line) }
