package recorder

import (
	"slices"
	"sync/atomic"

	"adze/session"
	"adze/tool"
)

// Prefetch sees from the events of a session that files are about to be changed, so that a Keeper
// begins beside the model. A run that reads a little and answers needs nothing that a Keeper keeps;
// who reads on will change something, and the first look at a large folder takes a while.
type Prefetch struct {
	// SideEffects reports whether a tool may change something, and whether there is one of that
	// name.
	SideEffects func(name string) (declared, known bool)

	rounds atomic.Int32 // answers of the model with calls
}

// Announces reports an event after which a call comes that may change files, or after which one is
// likely.
func (f *Prefetch) Announces(e session.Event) bool {
	switch e := e.(type) {
	case session.CallForming:
		return f.mayChange(e.Name)
	case session.ToolQueued:
		return f.mayChange(e.Tool)
	case session.MessageDone:
		calls := e.Message.Calls()
		return len(calls) > 0 && f.rounds.Add(1) > 1 || slices.ContainsFunc(calls, func(c tool.RawCall) bool { return f.mayChange(c.Name) })
	}
	return false
}

// mayChange goes by what tools declare. A name that none has may be mended into any.
func (f *Prefetch) mayChange(name string) bool {
	declared, known := f.SideEffects(name)
	return declared || !known
}
