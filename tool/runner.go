package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Runner is the pipeline. Its fields are its only contact with the world and must not change while
// it is in use. It is safe for concurrent use.
type Runner struct {
	// Gate decides about calls; nil denies everything.
	Gate Gate
	// Emit receives progress events; may be nil. It must not block for long.
	Emit func(Event)
	// Intent durably stores the record of a call with side effects before the effect; may be nil.
	// An error stops the call, and an *Error becomes its message.
	Intent func(context.Context, Record) error
	Clip   Clip
	// Mask hides secrets in output for the model; may be nil.
	Mask func(string) string
	// Before shows hooks each call before it is judged, After shows them the outcome of one that
	// ran; may be nil. Any goroutine may call them.
	Before func(context.Context, Look) Ruling
	After  func(context.Context, Look) Ruling
	// Waits is called when a call starts to wait for a user and returns a function for the end; may
	// be nil. Any goroutine may call it.
	Waits func() (over func())
	// OutOfResources reports whether an error means that the machine has run out of a resource that
	// every call needs; may be nil.
	OutOfResources func(error) bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Grace is the time for Run to return after its context ended; 0 means two seconds.
	Grace   time.Duration
	Session string
	Agent   string
	Mode    string // Question.Mode: the agent's limit beside the current mode
}

const defaultGrace = 2 * time.Second

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Runner) emit(e Event) {
	if r.Emit != nil {
		r.Emit(e)
	}
}

// Exec is the only way to run a tool: permission → run → clip → redact → audit. It always returns
// one outcome, never panics, and runs a Hydration at most once.
func (r *Runner) Exec(ctx context.Context, h Hydration) (out Outcome) {
	x := r.begin(h)
	defer x.contain(ctx, &out)
	if h.ran != nil && h.ran.Swap(true) {
		return x.finish(outcomeParts{output: "this call ran before and is not run again"}, Failed, CodeDuplicateCall)
	}
	if !h.runnable() {
		x.announce()
		return x.finish(outcomeParts{output: h.advice()}, Invalid, h.code())
	}
	err := x.permit(ctx)
	if err == nil {
		err = x.intend(ctx)
	}
	x.announce() // the record exists before observers see the call
	if err != nil {
		return x.fail(ctx, outcomeParts{}, err)
	}
	parts, err := x.run(ctx)
	if err != nil {
		return x.after(ctx, x.fail(ctx, parts, err))
	}
	parts.output = x.told(parts.output)
	return x.after(ctx, x.finish(x.clip(ctx, parts), Completed, ""))
}

type execution struct {
	runner *Runner
	h      Hydration
	live   *live

	mu     sync.Mutex // a running tool may ask from its own goroutines
	record Record
	byRule bool  // in the last decision
	over   bool  // the outcome exists; questions and notes are refused
	stop   bool  // a hook ends the turn
	flaw   error // found by the check before a question
	waits  waits
	// changed informs the model that its call was changed, or is "".
	changed string
	judged  *CommandReading
}

// note changes the record, and reports whether the call still runs.
func (x *execution) note(change func(*Record)) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		change(&x.record)
	}
	return !x.over
}

func (r *Runner) begin(h Hydration) *execution {
	x := &execution{runner: r, h: h, record: Record{
		Session: r.Session, Message: h.message, Agent: r.Agent, Call: h.Call, Tool: h.Tool,
		Origin: h.Provenance.Origin, NoSchemaMode: h.Provenance.NoSchemaMode, Start: r.now(), Faults: withoutDetail(h.Errors), Args: h.Exposed(),
	}}
	if h.prepared != nil {
		x.record.Digest = h.prepared.def.Digest
		x.record.Validated = h.runnable() && !h.prepared.def.AllowNoSchema
	}
	if h.Provenance.Validated != nil {
		x.record.ArgsHash = hashOf(string(h.Provenance.Validated))
	}
	if h.Provenance.Repair != nil {
		x.record.Repair = h.Provenance.Repair.Kind
	}
	if x.record.Alias = h.Provenance.Alias; h.Provenance.Dialect != nil {
		x.record.Dialect = h.Provenance.Dialect.Kind
	}
	x.live = &live{emit: func(title string, meta json.RawMessage) {
		title, heading := x.headed(title, meta)
		r.emit(Event{Kind: Updated, Call: h.Call, Tool: h.Tool, Title: title, Heading: heading, Metadata: meta})
	}}
	return x
}

// headed returns the call's title and heading from the data so far.
func (x *execution) headed(title string, meta json.RawMessage) (string, Heading) {
	h := x.h.heading(x.record.Args, meta)
	if h.Verb == "" {
		return title, h
	}
	h.Object, h.Note, h.Result = x.mask(h.Object), x.mask(h.Note), x.mask(h.Result)
	return h.String(), h
}

func (x *execution) announce() {
	title, heading := x.headed("", nil)
	x.runner.emit(Event{Kind: Started, Call: x.h.Call, Tool: x.h.Tool, Title: title, Heading: heading, Args: x.record.Args,
		Origin: x.h.Provenance.Origin, Repair: x.h.Provenance.Repair, NoSchemaMode: x.h.Provenance.NoSchemaMode})
}

// permit asks the gate about all known needs.
func (x *execution) permit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wanted, err := x.heed(ctx, true)
	if err != nil {
		return err
	}
	needs, err := guard(x, x.h.bound.needs)
	if err != nil {
		return err
	}
	d, err := x.ask(ctx, x.h.prepared.def.Permissions.cover(needs), func(q *Question) {
		q.Check, q.Wanted = x.check, wanted
		x.offerChange(q)
	})
	if err != nil || d.Change == nil {
		return err
	}
	return x.amend(ctx, d.Change)
}

// ask passes needs to the gate. more may add facts known before the call runs; may be nil.
func (x *execution) ask(ctx context.Context, needs []Need, more func(*Question)) (Decision, error) {
	if x.runner.Gate == nil {
		return Decision{}, fmt.Errorf("%w: there is no gate", ErrDenied)
	}
	if !x.note(func(r *Record) { r.Needs = append(r.Needs, needs...) }) {
		return Decision{}, fmt.Errorf("%w: the call is over", ErrDenied)
	}
	if why := x.h.prepared.def.Breach(needs); why != "" {
		return Decision{}, x.refuse(needs, "built in", why)
	}
	q := x.question(needs)
	if more != nil {
		more(&q)
	}
	d, err := x.decide(ctx, q)
	if ctx.Err() != nil {
		return Decision{}, ctx.Err()
	}
	if err != nil {
		d = Decision{Reason: "the permission check failed: " + err.Error(), Layer: "gate"}
	}
	x.note(func(r *Record) { r.Decisions, x.byRule, x.judged = append(r.Decisions, d), d.ByRule, d.Reading })
	if d.Asked || !d.Allow {
		x.runner.emit(Event{Kind: Asked, Call: x.h.Call, Tool: x.h.Tool, Needs: needs, Decision: &d})
	}
	switch {
	case d.Allow:
		return d, nil
	case d.Code != "":
		return d, cmp.Or(x.found(), error(&Error{Code: d.Code, Message: d.Reason}))
	}
	return d, &denial{d}
}

// refuse denies needs that no gate may allow.
func (x *execution) refuse(needs []Need, layer, why string) error {
	d := Decision{Layer: layer, Reason: why}
	x.note(func(r *Record) { r.Decisions, x.byRule, x.judged = append(r.Decisions, d), d.ByRule, d.Reading })
	x.runner.emit(Event{Kind: Asked, Call: x.h.Call, Tool: x.h.Tool, Needs: needs, Decision: &d})
	return &denial{d}
}

// reviewed reports whether a user allowed this call before.
func (x *execution) reviewed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.record.Decisions, func(d Decision) bool { return d.Allow && d.Asked })
}

// decide asks the gate; a panic denies the call.
func (x *execution) decide(ctx context.Context, q Question) (d Decision, err error) {
	_, panicked := guard(x, func() struct{} {
		d, err = x.runner.Gate.Decide(ctx, q)
		return struct{}{}
	})
	if panicked != nil {
		return Decision{}, errors.New("the gate failed inside")
	}
	return d, err
}

func (x *execution) question(needs []Need) Question {
	return Question{
		Session: x.runner.Session, Call: x.h.Call, Agent: x.runner.Agent, Mode: x.runner.Mode, Tool: x.h.prepared.def.Clone(),
		Needs: needs, Origin: x.h.Provenance.Origin,
		Repaired: x.h.Provenance.Repair != nil, Validated: x.record.Validated,
		Repair: x.h.Provenance.Repair, Reviewed: x.reviewed(), Preview: x.preview, Waits: x.wait,
	}
}

// intend stores the intent if the call may change something.
func (x *execution) intend(ctx context.Context) error {
	if x.runner.Intent == nil || !x.mayChange() {
		return ctx.Err()
	}
	if err := x.runner.Intent(ctx, x.snapshot()); err != nil {
		var told *Error
		if errors.As(err, &told) {
			return err
		}
		return Fail(CodeIO, "not run, because its record could not be saved: %w", err)
	}
	return ctx.Err()
}

// run starts the tool on its own goroutine, so that one that ignores its context cannot block the
// session.
func (x *execution) run(ctx context.Context) (outcomeParts, error) {
	type ended struct {
		parts outcomeParts
		err   error
	}
	done := make(chan ended, 1)
	go func() {
		deepen()
		e := ended{err: errInside()} // for a Run that ends its goroutine
		defer func() { done <- e }()
		_, err := guard(x, func() struct{} {
			e.parts, e.err = x.h.bound.run(ctx, x.common())
			return struct{}{}
		})
		if err != nil {
			e.err = err
		}
	}()
	defer x.live.stop()
	select {
	case e := <-done:
		return e.parts, e.err
	case <-ctx.Done():
	}
	grace := x.runner.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case e := <-done:
		return e.parts, e.err
	case <-timer.C:
		return outcomeParts{}, fmt.Errorf("the tool did not stop within %s and may still be running: %w", grace, ctx.Err())
	}
}

// deepen grows a new goroutine's stack at once to the size that most tools need: otherwise it is
// copied four times.
//
//go:noinline
func deepen() {
	var room [20 << 10]byte
	runtime.KeepAlive(&room)
}
