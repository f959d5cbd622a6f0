package telemetry

import (
	"adze/internal/telemetry/trace"
)

// Task begins a batch task's span; env makes it the parent of the spans from its adze.
func (w *Watch) Task() (env []string, over func(ok bool, cause string)) {
	if w.Tracer == nil {
		return nil, func(bool, string) {}
	}
	up, began := w.Tracer.Begin(), w.now()
	span := &open{Place: up, up: up.Span, start: began}
	span.Span = trace.NewSpanID()
	return []string{"TRACEPARENT=" + span.Parent(), "TRACESTATE=" + span.State}, func(ok bool, cause string) {
		outcome := map[bool]string{true: "ok", false: "failed"}[ok]
		if cause == "" {
			outcome, cause = "stopped", "stopped"
		}
		w.Tracer.Add(trace.Span{Place: span.Place, ParentID: span.up, Name: "adze.task", Kind: trace.Internal, Start: span.start, End: w.now(), Failed: !ok,
			Attributes: []trace.Attribute{{Key: "adze.task.outcome", Value: outcome}, {Key: "adze.task.cause", Value: cause}}})
	}
}
