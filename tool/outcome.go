package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fail ends a call stopped by the gate, the tool or an abort. The tool's output and metadata stay,
// and the reason is never clipped.
func (x *execution) fail(ctx context.Context, p outcomeParts, err error) Outcome {
	p.output = x.told(p.output)
	clipped := x.clip(context.WithoutCancel(ctx), p)
	if clipped.output != "" {
		clipped.output = strings.TrimSuffix(clipped.output, "\n") + "\n"
	}
	clipped.output += cut(x.mask(withCause(ctx, failureText(err))), maxFailure)
	if len(clipped.metadata) == 0 {
		title, metadata := x.live.last()
		clipped.metadata = metadata
		clipped.title = cmp.Or(clipped.title, title)
	}
	status, code := verdict(ctx, err)
	if lacking := x.runner.OutOfResources; status == Failed && lacking != nil && lacking(err) {
		code = CodeEnvironment
	}
	return x.finish(clipped, status, code)
}

// maxFailure limits a failure's reason, in runes: a failed edit shows the nearest lines.
const maxFailure = 10_000

// verdict distinguishes an abort from a failure: if the context ended, the call is aborted,
// whatever the tool returned.
func verdict(ctx context.Context, err error) (Status, string) {
	switch {
	case ctx.Err() != nil:
		return Aborted, CodeAborted
	case errors.Is(err, ErrDenied):
		return Denied, CodeDenied
	}
	return Failed, CodeOf(err)
}

// withCause adds the context's cause, if it has one.
func withCause(ctx context.Context, text string) string {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) || strings.Contains(text, cause.Error()) {
		return text
	}
	return text + ": " + cause.Error()
}

func failureText(err error) string {
	var d *denial
	switch {
	case errors.As(err, &d) && d.decision.Reply != "":
		return "The person did not allow this and says: " + d.decision.Reply
	case errors.As(err, &d):
		return "denied: " + d.Error() + ". Do not attempt it another way; go on without it or ask the person."
	case err == context.Canceled:
		return "aborted"
	case err == context.DeadlineExceeded:
		return "aborted: the time is up"
	}
	return err.Error()
}

// finish creates the outcome and its audit record.
func (x *execution) finish(p outcomeParts, status Status, code string) Outcome {
	hash := hashOf(p.output)
	x.note(func(r *Record) {
		r.Status, r.Code = status, code
		now := x.runner.now()
		r.Waited = x.waits.total(now)
		r.Duration = now.Sub(r.Start) - r.Waited
		r.OutputHash, r.Sandbox, r.Refused, r.Traffic = hash, p.sandbox, p.refused, p.carried
		x.over = true
	})
	record := x.snapshot()
	title, heading := x.headed(p.title, p.metadata)
	return Outcome{
		Call: x.h.Call, Tool: x.h.Tool, Status: status, Code: code, Title: title, Heading: heading,
		Output: p.output, Attachments: p.attachments, Metadata: p.metadata,
		Truncated: p.truncated, OutputFile: p.outputFile, Changed: p.changed,
		Duration: record.Duration, Stop: p.stop || x.stop, Pending: p.pending, Repair: x.h.Provenance.Repair, Record: record,
	}
}

// snapshot returns a copy of the record, independent of later notes.
func (x *execution) snapshot() Record {
	x.mu.Lock()
	defer x.mu.Unlock()
	record := x.record
	record.Needs, record.Decisions = slices.Clone(record.Needs), slices.Clone(record.Decisions)
	return record
}

// contain still returns one outcome when a port (Emit, Intent, Spill) panics.
func (x *execution) contain(ctx context.Context, out *Outcome) {
	if p := recover(); p != nil {
		x.note(func(r *Record) { r.Panic = panicked(p) })
		status, code := verdict(ctx, errInside())
		*out = x.finish(outcomeParts{output: errInside().Error()}, status, code)
	}
}

func errInside() error {
	return &Error{Code: CodePanic, Message: "the tool failed inside; try another way"}
}

// guard turns a panic in the author's function into an error with the code "internal" and keeps the
// stack for the log.
func guard[T any](x *execution, f func() T) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.note(func(r *Record) { r.Panic = panicked(p) })
			err = errInside()
		}
	}()
	return f(), nil
}

// denial is the gate's refusal, with its reason for the model.
type denial struct{ decision Decision }

func (d *denial) Error() string {
	reason := d.decision.Reason
	if reason == "" {
		reason = "permission was denied"
	}
	return reason
}

func (d *denial) Is(target error) bool { return target == ErrDenied }

func (h Hydration) code() string {
	if len(h.Errors) == 0 {
		return CodeInvalidArguments
	}
	return h.Errors[0].Code
}

// withoutDetail removes a library's messages from the audit: they may quote arguments.
func withoutDetail(faults []Fault) []Fault {
	out := slices.Clone(faults)
	for i := range out {
		out[i].Detail = ""
	}
	return out
}

// sound runs an author's or a library's code and turns a panic into an error.
func sound[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it failed inside: %.200v", p)
		}
	}()
	return f()
}
