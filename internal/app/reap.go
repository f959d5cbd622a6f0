package app

import (
	"sync"

	"adze/internal/proc"
	"adze/session"
)

// reaping ends what a killed adze left running, beside the first answer of a model: looking for it before the first
// request would make every start wait. The run ends after it.
func (w *wired) reaping(ledger *proc.Ledger, observe func(session.Event)) func(session.Event) {
	var once sync.Once
	var running sync.WaitGroup
	w.closers = append(w.closers, running.Wait)
	return func(e session.Event) {
		if answered(e) {
			once.Do(func() {
				running.Go(func() { _, _ = ledger.Reap() }) // what cannot be read now is tried at the next start
			})
		}
		observe(e)
	}
}

// answered reports an event that comes only after a request was sent.
func answered(e session.Event) bool {
	switch e := e.(type) {
	case session.TextDelta, session.ReasoningDelta, session.CallForming, session.Retry, session.TurnEnd:
		return true
	case session.MessageDone:
		return e.Message.Role == session.Assistant
	}
	return false
}
