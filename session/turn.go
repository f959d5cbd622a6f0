package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"adze/session/loop"
	"adze/tool"
)

// Causes that a context may carry, to distinguish results.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrTerminated  = errors.New("terminated")
	ErrClosed      = errors.New("the reader closed the output")
	ErrTaken       = errors.New("the session was taken over")
	ErrBudget      = errors.New("budget spent")
)

type turn struct {
	ctx     context.Context
	clock   *clock
	result  Result
	budget  *Budget
	steps   int // its own steps
	guard   loop.Guard
	last    *Message // the turn's final answer, which end stores
	refused int      // estimated tokens of the last too long request, or 0
	shrunk  bool     // the conversation was compacted after the last request, which was too long
	cut     bool     // the last answer was cut inside a call, and the model was warned
	tries   int      // rejected answers
	// stumbled: the server could not parse the last answer, and the model was warned.
	stumbled bool
	unable   unable
	// silences counts the empty answers.
	silences silences
	holds    int    // continuations by hooks
	prompt   string // id of its first message
	claimed  bool   // the model was shown its claims
	// unsummed: a summary failed when the window was nearly full.
	unsummed bool
}

func (s *Session) begin(ctx context.Context) (*turn, context.CancelFunc) {
	limits := s.config.Limits
	t := &turn{budget: newBudget(limits, s.config.ParentBudget, s.config.Start)}
	var cancel context.CancelFunc
	t.ctx, t.clock, cancel = startClock(ctx, s.config.Now, limits.Time)
	t.budget.account = &s.ledger.account
	s.control.mu.Lock()
	s.control.budget, s.control.clock = t.budget, t.clock
	s.control.mu.Unlock()
	return t, cancel
}

// waits is called by the pipeline when it asks a user. It stops the clock of the current turn and
// of a subagent's parent turn.
func (s *Session) waits() (over func()) {
	_ = s.store(context.Background()) // users are asked only about stored entries; if storing fails, the next entry fails too
	s.control.mu.Lock()
	own := s.control.clock
	s.control.mu.Unlock()
	ends := []func(){}
	if own != nil {
		ends = append(ends, own.wait())
	}
	if s.config.Waits != nil {
		ends = append(ends, s.config.Waits())
	} else {
		s.hooks.notify(HookWaits, "adze waits for you")
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// A ComposeError means that no prompt was made, and holds its turn's result.
type ComposeError struct {
	Cause         Cause
	Message, Hint string
}

func (e *ComposeError) Error() string { return e.Message }

// composed builds a prompt's text and returns its message id. Its calls run through the same
// pipeline as the model's, and are stored and counted alike; their attachments become the prompt's.
func (s *Session) composed(t *turn, in *Input) (message string, err error) {
	if in.Compose == nil {
		return "", nil
	}
	message = s.nextID()
	n, failed := 0, error(nil)
	in.Text, err = in.Compose(t.ctx, func(call tool.RawCall) (o tool.Outcome) {
		if !s.started && failed == nil {
			failed = s.store(t.ctx, s.entry(StartEntry, s.config.Start))
			s.started = failed == nil
		}
		n++
		call.ID, call.Message = tool.CallID(fmt.Sprintf("command-%s-%d", message, n)), message
		h := s.runner.Hydrate(t.ctx, s.config.Tools, []tool.RawCall{call})[0]
		if failed != nil {
			return s.runner.Skip(h, tool.CodeIO, "not run: "+failed.Error())
		}
		if most, ok := t.budget.call(); !ok {
			o = s.runner.Skip(h, tool.CodeLimit, fmt.Sprintf("not run: the budget of %d calls is spent", most))
		} else {
			o = s.exec(t.ctx, h)
		}
		failed = s.settleCall(t, call, o)
		in.Attachments = append(in.Attachments, o.Attachments...) // the model does not see the call itself
		return o
	})
	return message, cmp.Or(failed, err)
}

// step counts one model request or returns an error.
func (t *turn) step() error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	if err := t.guard.Stuck(); err != nil {
		return err
	}
	if most := t.budget.limits.OwnRequests; most > 0 && t.steps >= most {
		return fmt.Errorf("%w: the usual %d model requests of one prompt were made", ErrBudget, most)
	}
	t.steps++
	return t.budget.step()
}

func (t *turn) count(o tool.Outcome) {
	for _, path := range o.Changed {
		if !slices.Contains(t.result.Changed, path) {
			t.result.Changed = append(t.result.Changed, path)
		}
	}
	t.budget.count(o)
}

// endText limits the answer's copy in the end entry, in bytes.
const endText = 4 << 10

// defaults holds the session's model and the facts learned about it.
type defaults struct {
	provider     Provider
	model        string
	window, told int
	correction   correction
}

// UseModelForTurn makes another model answer the turn being composed; afterwards the session uses
// its own again. The log marks the answers. Only an Input's Compose may call it.
func (s *Session) UseModelForTurn(p Provider, model string) {
	if l := &s.ledger; s.defaults == nil {
		s.defaults = &defaults{s.config.Provider, s.config.Model, l.window, l.told, l.correction}
	}
	s.work(defaults{provider: p, model: model})
}

func (s *Session) giveBack() {
	if s.defaults == nil {
		return
	}
	s.work(*s.defaults)
	s.defaults = nil
}

// work changes the model. The conversation is counted again, since requests to another model
// contain other parts.
func (s *Session) work(u defaults) {
	s.config.Provider, s.config.Model = u.provider, u.model
	l := &s.ledger
	l.sync(nil)
	l.provider, l.model, l.window, l.told, l.correction = u.provider.Name(), u.model, u.window, u.told, u.correction
}

// end sums up the turn, stores the result and announces it.
func (s *Session) end(t *turn, err error) Result {
	s.giveBack()
	r := t.result
	r.Duration, r.Plan = t.clock.elapsed(), s.plans.take()
	t.budget.sum(&r)
	r.Err = err
	r.Cause, r.Message, r.Hint = causeOf(err)
	r.Limited = limitOf(err)
	if err != nil {
		r.Claims, r.Evidence = nil, nil // not of the final answer
	}
	var entries []Entry
	if t.last != nil {
		entries = append(entries, s.entry(MessageEntry, said(*t.last)))
	}
	stored := r
	stored.Text, stored.Plan = shortened(r.Text, endText), nil // stored whole in the message, outcome or plan entry
	serr := s.store(t.ctx, append(entries, s.entry(EndEntry, stored))...)
	switch {
	case serr == nil && t.last != nil:
		s.keep(*t.last)
		s.emitLedger(t.last.ID)
	case serr != nil && !errors.Is(err, errStore):
		r.Err = serr
		r.Cause, r.Message, r.Hint = causeOf(serr)
	}
	if s.claims, s.evidence = r.Claims, r.Evidence; len(r.Claims)+len(r.Evidence) > 0 {
		s.emit(Claimed{r.Claims, r.Evidence})
	}
	s.emit(TurnEnd{r})
	return r
}

// Sort returns the result for a run that failed before its first turn.
func Sort(err error) Result {
	r := Result{Err: err}
	r.Cause, r.Message, r.Hint = causeOf(err)
	r.Limited = limitOf(err)
	return r
}

func limitOf(err error) *time.Duration {
	var p *ProviderError
	if !errors.As(err, &p) || p.Kind != RateError {
		return nil
	}
	return new(max(0, p.RetryAfter))
}

// StoreHint returns the next step after an error of a store: from the error's Hint method, or by
// its cause.
func StoreHint(err error) string {
	var own interface{ Hint() string }
	switch {
	case errors.As(err, &own):
		return own.Hint()
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free disk space"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check who may write to the folder of the sessions"
	}
	return "free disk space or check the folder's permissions"
}

func causeOf(err error) (cause Cause, message, hint string) {
	var p *ProviderError
	var c *ComposeError
	var lacks *lackError
	switch {
	case err == nil:
		return CauseDone, "", ""
	case errors.As(err, &c):
		return c.Cause, c.Message, c.Hint
	case errors.Is(err, errStore):
		return CauseStore, err.Error(), StoreHint(err) + ", then run adze --continue"
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled), errors.Is(err, ErrCallAborted):
		return CauseInterrupted, "interrupted", "adze --continue goes on from here"
	case errors.Is(err, ErrTerminated):
		return CauseTerminated, "terminated", "adze --continue goes on from here"
	case errors.Is(err, ErrClosed):
		return CauseClosed, err.Error(), ""
	case errors.Is(err, ErrTaken):
		return CauseTaken, err.Error(), "adze sessions shows it there"
	case errors.Is(err, ErrHooked):
		return CauseDenied, err.Error(), "do as it says, or see adze help hooks"
	case errors.Is(err, ErrBudget):
		return CauseBudget, err.Error(), "say go on, or raise the limit and run adze --continue"
	case errors.Is(err, ErrShort), errors.Is(err, errLittle):
		return CauseUsage, err.Error(), "go on; it is summed up by itself when it must be"
	case errors.As(err, &lacks):
		return CauseTool, err.Error(), lacks.hint()
	case errors.Is(err, loop.Err):
		return CauseLoop, err.Error(), "rephrase the task, or try another model; adze --continue goes on from here"
	case errors.Is(err, errCut):
		return CauseTruncated, err.Error(), `adze --continue -p "go on" lets it finish; or ask for less at once`
	case errors.As(err, &p) && p.lasts():
		return CauseProvider, p.Error(), "it wants no request for " + roughly(p.RetryAfter) + "; adze --continue goes on then, or now with another --model"
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
	case EmptyAnswer:
		return CauseNoAnswer
	}
	return CauseProvider
}

// roughly formats a long wait for the user.
func roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	if minutes < 120 {
		return fmt.Sprintf("%d minutes", minutes)
	}
	return fmt.Sprintf("%d hours", (minutes+30)/60)
}
