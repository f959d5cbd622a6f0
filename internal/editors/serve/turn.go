package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"adze/internal/editors/uistream"
	"adze/session"
)

// job is a prompt or other action that waits for its turn. number is its turn's number.
type job struct {
	prompt Prompt
	run    func(ctx context.Context) session.Result // nil sends the prompt
	quiet  bool                                     // not a turn; its end is not reported
	number int
}

// turn is the running turn, or the last one.
type turn struct {
	number      int
	abort       context.CancelCauseFunc // nil if none runs
	endReported bool                    // its end was reported
	again       bool                    // it replaces the previous one
	prompt      string                  // ID of its first message; empty before that
	unstored    []item                  // events of a message that is not stored yet
	ear         *uistream.Encoder       // receives all events, to know the content shown to readers
	calls       []item                  // newest events of running calls, one of each kind
	paused      *turnStream             // the reader that ended at the question
}

// say sends a remark to the running turn, or starts a turn with it and returns its reader. A prompt
// with more than text waits for its own turn.
func (r *sharedSession) say(p Prompt) (*reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return nil, errLeaving
	}
	switch {
	case p.Replace && r.running:
		return nil, &refusal{http.StatusConflict, "a turn runs; wait for its end, or abort it"}
	case r.asked != nil && !p.bare():
		return nil, &refusal{http.StatusConflict, "a question waits for its answer; send the file behind that"}
	case p.bare() && r.turn.abort != nil && r.conv.Steer(p.Text):
		r.steered = append(r.steered, p.Text)
		return nil, nil
	}
	r.enqueue(job{prompt: p})
	q := newReader(r.count)
	r.readers[q] = struct{}{}
	return q, nil
}

func (r *sharedSession) enqueue(j job) {
	r.count++
	j.number = r.count
	r.jobs = append(r.jobs, j)
	if !r.running {
		r.running = true
		r.server.ends.Go(r.work)
	}
}

// work runs prompts one after the other.
func (r *sharedSession) work() {
	for {
		r.mu.Lock()
		if len(r.jobs) == 0 {
			r.running, r.used = false, r.server.Now()
			leaving := r.leaving
			r.mu.Unlock()
			r.server.wakePages()
			if leaving {
				r.leave()
			}
			return
		}
		j := r.jobs[0]
		r.jobs = r.jobs[1:]
		ctx, abort := context.WithCancelCause(r.server.ctx)
		r.turn = turn{number: j.number, abort: abort, again: j.prompt.Replace, endReported: j.quiet, ear: uistream.New(uistream.Options{Mask: r.server.Mask})}
		r.mu.Unlock()
		r.server.wakePages()
		var result session.Result
		if j.run != nil {
			result = j.run(ctx)
		} else {
			result = r.conv.Prompt(ctx, j.prompt)
		}
		abort(nil)
		r.rest(result)
	}
}

// rest runs after each turn.
func (r *sharedSession) rest(result session.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.turn.endReported {
		r.hear(session.TurnEnd{Result: result})
	}
	if t := r.turn.paused; t != nil {
		delete(r.readers, t.reader)
	}
	r.turn.abort, r.turn.paused = nil, nil
	for _, text := range r.steered { // the turn ended before reading it
		if !r.leaving {
			r.enqueue(job{prompt: Prompt{Text: text}})
		}
	}
	r.steered = nil
}

// Observe receives an event of the session.
func (r *sharedSession) Observe(e session.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if counted, is := e.(session.Counted); is {
		r.counted = &counted
	}
	if r.turn.abort != nil && !r.turn.endReported {
		r.hear(e)
		return
	}
	r.passTo(everyTurn, item{event: e})
}

// hear stores the events needed by later readers, and forwards the event.
func (r *sharedSession) hear(e session.Event) {
	t := &r.turn
	switch ev := e.(type) {
	case session.TextDelta, session.ReasoningDelta:
		t.unstored = joined(t.unstored, item{event: e})
	case session.MessageDone:
		r.stored(ev.Message)
	case session.Retry:
		t.unstored = nil
	case session.TurnEnd:
		t.unstored, t.calls, t.endReported = nil, nil, true
		r.result = &ev.Result
	}
	t.keep(e)
	r.does(e)
	t.ear.Take(e)
	r.pass(item{event: e})
}

// stored handles a message that is now in the log.
func (r *sharedSession) stored(m session.Message) {
	switch {
	case m.Role == session.Assistant:
		r.turn.unstored = nil
	case uistream.Prompts(m):
		r.turn.prompt = cmp.Or(r.turn.prompt, m.ID)
		if r.turn.again {
			r.passTo(everyTurn, item{anew: true})
		}
	case m.Meanwhile:
		if at := slices.Index(r.steered, m.Text()); at >= 0 {
			r.steered = slices.Delete(r.steered, at, at+1)
		}
	}
}

func (r *sharedSession) pass(it item) {
	r.passTo(r.turn.number, it)
	r.passTo(everyTurn, it)
}

func (r *sharedSession) passTo(turn int, it item) {
	for q := range r.readers {
		if q.turn == turn {
			q.add(it)
		}
	}
}

// join adds a reader for the events of a turn from now on, or of all turns. It returns the running
// turn's unlogged events.
func (r *sharedSession) join(turn int) (q *reader, events []item) {
	q = newReader(turn)
	r.readers[q] = struct{}{}
	if r.turn.abort != nil && !r.turn.endReported {
		events = slices.Concat(r.turn.unstored, r.turn.calls)
	}
	if r.asked != nil {
		events = append(events, item{question: r.asked})
	}
	return q, events
}

// follow adds a reader for the running turn, and returns its prompt and unlogged events. The reader
// is nil if none runs.
func (r *sharedSession) follow() (q *reader, prompt string, under []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn.abort == nil || r.turn.endReported {
		return nil, "", nil
	}
	q, under = r.join(r.turn.number)
	return q, r.turn.prompt, under
}

func (r *sharedSession) forget(q *reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.readers, q)
}

// Stop aborts the running turn, or returns false without one.
func (r *sharedSession) Stop() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn.abort == nil {
		return false
	}
	r.turn.abort(session.ErrInterrupted)
	return true
}

// Begin queues another process's prompt.
func (r *sharedSession) Begin(p Prompt) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return errLeaving
	}
	r.enqueue(job{prompt: p})
	r.nudged()
	return nil
}

// Changed is called after another process has changed the session's settings.
func (r *sharedSession) Changed() { r.server.wakePages() }

var errLeaving = &refusal{http.StatusServiceUnavailable, "the session is being closed; try again"}
