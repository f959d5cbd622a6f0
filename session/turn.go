package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/tool"
)

// Limits are the budgets of one turn; zero means unlimited.
type Limits struct {
	Steps  int // model requests
	Calls  int
	Tokens int // all tokens of all requests
	// Cost is in USD. A request whose cost is not known ends the turn: nobody could hold the limit.
	Cost float64
	Time time.Duration
}

// The causes that a context may carry, so that a result can tell them apart.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrTerminated  = errors.New("terminated")
	ErrClosed      = errors.New("the reader closed the output")
	ErrBudget      = errors.New("budget spent")
)

// turn is the state of one Prompt.
type turn struct {
	ctx    context.Context
	limits Limits
	start  time.Time
	result Result
	total  Usage
	cost   cost
	calls  int
	guard  loopGuard
	last   *Message // the answer that ends the turn, which end stores
}

func (s *Session) begin(ctx context.Context) (*turn, context.CancelFunc) {
	t := &turn{limits: s.config.Limits, start: s.config.Now()}
	t.result.Usage = map[string]Usage{}
	t.result.Calls = map[string]map[tool.Status]int{}
	if t.limits.Time <= 0 {
		t.ctx = ctx
		return t, func() {}
	}
	spent := fmt.Errorf("%w: the turn took longer than %s", ErrBudget, t.limits.Time)
	var cancel context.CancelFunc
	t.ctx, cancel = context.WithTimeoutCause(ctx, t.limits.Time, spent)
	return t, cancel
}

// spent reports a budget that is used up before the next request.
func (t *turn) spent() error {
	switch l := t.limits; {
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	case l.Steps > 0 && t.result.Steps >= l.Steps:
		return fmt.Errorf("%w: %d model requests were made", ErrBudget, l.Steps)
	case l.Calls > 0 && t.calls >= l.Calls:
		return fmt.Errorf("%w: %d calls were made", ErrBudget, l.Calls)
	}
	if err := t.dear(); err != nil {
		return err
	}
	return t.guard.stuck()
}

// dear reports a budget of tokens or money that is used up; it also ends the attempts of one request.
func (t *turn) dear() error {
	switch l := t.limits; {
	case l.Tokens > 0 && t.total.Total() >= l.Tokens:
		return fmt.Errorf("%w: %d tokens were used", ErrBudget, t.total.Total())
	case l.Cost > 0 && t.cost.unknown:
		return fmt.Errorf("%w: what the last request cost is not known", ErrBudget)
	case l.Cost > 0 && t.cost.usd >= l.Cost:
		return fmt.Errorf("%w: %.4f USD were spent", ErrBudget, t.cost.usd)
	}
	return nil
}

// count adds one outcome to the result.
func (t *turn) count(o tool.Outcome) {
	r := &t.result
	if r.Calls[o.Tool] == nil {
		r.Calls[o.Tool] = map[tool.Status]int{}
	}
	r.Calls[o.Tool][o.Status]++
	for _, path := range o.Changed {
		if !slices.Contains(r.Changed, path) {
			r.Changed = append(r.Changed, path)
		}
	}
	if o.Status != tool.Denied {
		return
	}
	d := Denial{Call: o.Call, Tool: o.Tool}
	if n := len(o.Record.Decisions); n > 0 {
		last := o.Record.Decisions[n-1]
		d.Need, d.Rule, d.Reason = last.Need, last.Rule, last.Reason
	}
	r.Denied = append(r.Denied, d)
}

// end sums up the turn, stores the result and announces it.
func (s *Session) end(t *turn, err error) Result {
	r := t.result
	r.Duration = s.config.Now().Sub(t.start)
	r.Cost = t.cost.known()
	r.Err = err
	r.Cause, r.Message, r.Hint = causeOf(err)
	var entries []Entry
	if t.last != nil {
		entries = append(entries, s.entry(MessageEntry, said(*t.last)))
	}
	serr := s.store(t.ctx, append(entries, s.entry(EndEntry, r))...)
	switch {
	case serr == nil && t.last != nil:
		s.keep(*t.last)
	case serr != nil && !errors.Is(err, errStore):
		r.Err = serr
		r.Cause, r.Message, r.Hint = causeOf(serr)
	}
	s.emit(TurnEnd{r})
	return r
}

// Sort makes the result of a run that an error ended before its first turn.
func Sort(err error) Result {
	r := Result{Err: err}
	r.Cause, r.Message, r.Hint = causeOf(err)
	return r
}

// causeOf sorts what ended a turn.
func causeOf(err error) (cause Cause, message, hint string) {
	var p *ProviderError
	switch {
	case err == nil:
		return CauseDone, "", ""
	case errors.Is(err, errStore):
		return CauseStore, err.Error(), "free disk space or check the folder's permissions, then run adze --continue"
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return CauseInterrupted, "interrupted", "adze --continue goes on from here"
	case errors.Is(err, ErrTerminated):
		return CauseTerminated, "terminated", "adze --continue goes on from here"
	case errors.Is(err, ErrClosed):
		return CauseClosed, err.Error(), ""
	case errors.Is(err, ErrBudget):
		return CauseBudget, err.Error(), "raise the limit and run adze --continue"
	case errors.Is(err, errStuck):
		return CauseTool, err.Error(), "rephrase the task, or try another model"
	case errors.As(err, &p):
		return providerCause(p.Kind), p.Error(), p.Hint
	}
	return CauseInternal, err.Error(), ""
}

func providerCause(k ErrorKind) Cause {
	switch k {
	case AuthError, NoModelError:
		return CauseNoModel
	case ContextError:
		return CauseContext
	case RefusedAnswer:
		return CauseRefused
	}
	return CauseProvider
}
