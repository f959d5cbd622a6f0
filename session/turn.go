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

// The causes that a context may carry, so that a result can tell them apart.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrTerminated  = errors.New("terminated")
	ErrClosed      = errors.New("the reader closed the output")
	ErrTaken       = errors.New("the session was taken over")
	ErrBudget      = errors.New("budget spent")
)

// turn is the state of one Prompt.
type turn struct {
	ctx     context.Context
	clock   *clock
	result  Result
	budget  *Budget
	steps   int // of its own
	guard   loop.Guard
	last    *Message // the answer that ends the turn, which end stores
	refused int      // tokens of the last request that was too long, an estimate; if 0, none was
	shrunk  bool     // the last request was too long, and the conversation was summed up
	cut     bool     // the last answer was cut inside a call, and the model was told
	tries   int      // answers that were not accepted
	// stumbled: the server could not read the last answer, and the model was told.
	stumbled bool
	unable   unable
	// silences are the answers that said nothing.
	silences silences
	holds    int    // times that hooks had it go on
	prompt   string // the message that it began with
	claimed  bool   // the model was told what it claimed
	// unsummed: no summary was got when the window was nearly full.
	unsummed bool
}

func (s *Session) begin(ctx context.Context) (*turn, context.CancelFunc) {
	limits := s.config.Limits
	t := &turn{budget: newBudget(limits, s.config.Within, s.config.Start)}
	var cancel context.CancelFunc
	t.ctx, t.clock, cancel = startClock(ctx, s.config.Now, limits.Time)
	t.budget.account = &s.ledger.account
	s.beside.mu.Lock()
	s.beside.budget, s.beside.clock = t.budget, t.clock
	s.beside.mu.Unlock()
	return t, cancel
}

// waits is what the pipeline calls when a user is waited for: it holds the clock of the running
// turn, and that of the turn which a subagent works for.
func (s *Session) waits() (over func()) {
	_ = s.store(context.Background()) // a user is asked of what is stored; a failure is not lost: the next entry fails, too
	s.beside.mu.Lock()
	own := s.beside.clock
	s.beside.mu.Unlock()
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

// ComposeError is why a prompt was not made: what its turn comes to.
type ComposeError struct {
	Cause         Cause
	Message, Hint string
}

func (e *ComposeError) Error() string { return e.Message }

// composed makes the text of a prompt, and says which message it will be. Calls that it needs pass
// the same pipeline as the model's, and are stored and counted as these are; what they attach, the
// prompt attaches.
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
		in.Attachments = append(in.Attachments, o.Attachments...) // of the call itself the model sees nothing
		return o
	})
	return message, cmp.Or(failed, err)
}

// step takes one model request, or says why there is none.
func (t *turn) step() error {
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	if err := t.guard.Stuck(); err != nil {
		return err
	}
	if most := t.budget.limits.Own; most > 0 && t.steps >= most {
		return fmt.Errorf("%w: the usual %d model requests of one prompt were made", ErrBudget, most)
	}
	t.steps++
	return t.budget.step()
}

// count adds one outcome to the result.
func (t *turn) count(o tool.Outcome) {
	for _, path := range o.Changed {
		if !slices.Contains(t.result.Changed, path) {
			t.result.Changed = append(t.result.Changed, path)
		}
	}
	t.budget.count(o)
}

// endText is how much of the answer the entry of a turn's end repeats, in bytes.
const endText = 4 << 10

// usual is what a session works with, and what it learnt of that.
type usual struct {
	provider     Provider
	model        string
	window, told int
	correction   correction
}

// Lend has another model answer the turn that is being composed; then the session goes on with its
// own. What it answers is marked in the log. It is for an Input's Compose alone.
func (s *Session) Lend(p Provider, model string) {
	if l := &s.ledger; s.usual == nil {
		s.usual = &usual{s.config.Provider, s.config.Model, l.window, l.told, l.correction}
	}
	s.work(usual{provider: p, model: model})
}

// giveBack ends what Lend began.
func (s *Session) giveBack() {
	if s.usual == nil {
		return
	}
	s.work(*s.usual)
	s.usual = nil
}

// work changes the model. Of a conversation another one is sent other parts, so that it is counted
// anew.
func (s *Session) work(u usual) {
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
		r.Claims, r.Evidence = nil, nil // of an answer that was not the last word
	}
	var entries []Entry
	if t.last != nil {
		entries = append(entries, s.entry(MessageEntry, said(*t.last)))
	}
	stored := r
	stored.Text, stored.Plan = shortened(r.Text, endText), nil // the message, outcome or plan entry has the whole
	serr := s.store(t.ctx, append(entries, s.entry(EndEntry, stored))...)
	switch {
	case serr == nil && t.last != nil:
		s.keep(*t.last)
		s.tell(t.last.ID)
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

// Sort makes the result of a run that an error ended before its first turn.
func Sort(err error) Result {
	r := Result{Err: err}
	r.Cause, r.Message, r.Hint = causeOf(err)
	r.Limited = limitOf(err)
	return r
}

// limitOf is the wait of Result.Limited.
func limitOf(err error) *time.Duration {
	var p *ProviderError
	if !errors.As(err, &p) || p.Kind != RateError {
		return nil
	}
	return new(max(0, p.RetryAfter))
}

// StoreHint returns the next move after an error of a store: what the error itself says by a method
// Hint, or what fits its cause.
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

// causeOf sorts what ended a turn.
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

// roughly is a long wait as people say it.
func roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	if minutes < 120 {
		return fmt.Sprintf("%d minutes", minutes)
	}
	return fmt.Sprintf("%d hours", (minutes+30)/60)
}
