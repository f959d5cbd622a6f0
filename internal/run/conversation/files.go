package conversation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/project/worktree"
	"adze/internal/run/hostio"
	"adze/internal/run/settings"
	"adze/internal/sessiondb/buffered"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/session/api"
)

// shortRun is the number of calls from which a run no longer counts as short.
const shortRun = 12

// beside starts background work during the model's first answer, where it does not delay the start:
// it ends processes left by a killed adze, and waits for that at the end. With the
// first call that may change files it prepares their snapshot.
func (w *Conversation) beside(observe func(session.Event)) func(session.Event) {
	var once sync.Once
	var calls atomic.Int64
	var running sync.WaitGroup
	w.closers = append(w.closers, running.Wait)
	return func(e session.Event) {
		if answered(e) {
			once.Do(func() {
				running.Go(func() { _, _ = w.Ledger.Reap() }) // the next start tries again
				w.Servers.WakeUnseen()
			})
		}
		if _, ok := e.(session.ToolQueued); ok && calls.Add(1) == shortRun {
			w.Settings.UnderWay()
		}
		name := ""
		switch e := e.(type) {
		case session.CallForming:
			name = e.Name
		case session.ToolQueued:
			name = e.Tool
		}
		// An unknown name may be repaired into any other.
		if changes, known := w.Set.Load().SideEffects(name); name != "" && (changes || !known) {
			w.Keeper.Begin()
		}
		observe(e)
	}
}

// answered reports whether an event can only follow a request.
func answered(e session.Event) bool {
	switch e := e.(type) {
	case session.TextDelta, session.ReasoningDelta, session.CallForming, session.Retry, session.TurnEnd:
		return true
	case session.MessageDone:
		return e.Message.Role == session.Assistant
	}
	return false
}

// Undo restores files for the user and adds a note for the model to the next prompt.
func (w *Conversation) Undo(ctx context.Context, wish api.Undo) (api.UndoResult, error) {
	d, err := w.Keeper.CompleteManager(ctx, w.folder())
	if err != nil {
		return api.UndoResult{}, err
	}
	out, u, err := hostio.Undo(ctx, d, wish, w.Session.LastPromptID())
	if u != nil {
		w.observe(session.FilesChanged{Window: u.Window})
	}
	if u != nil && !wish.Since && u.Done > 0 {
		w.Session.Note(recorder.Note(*u))
	}
	return out, err
}

// folder returns the undo manager for the session.
func (w *Conversation) folder() recorder.Manager {
	return recorder.Manager{Root: w.Settings.Root.Dir(), Store: w.Stored, Session: w.Session.ID(), Running: true, Now: time.Now, OtherSessions: w.Stored, ChangeLog: w.ChangeLog,
		Git: settings.Repositories(w.Settings.Config, w.Settings.Root.Dir())}
}

// patience wraps the store, so that a session continues while it cannot save.
func (w *Conversation) patience(stored session.Store) session.Store {
	below, can := stored.(buffered.RetryStore)
	if !can {
		return stored
	}
	w.Buffered = buffered.New(below, buffered.Options{})
	w.closers = append(w.closers, func() { _ = w.Buffered.Flush() }) // the judgment of the run reports failures
	return w.Buffered
}

// snapshots returns the undo recorder as an interface, nil without one.
func (w *base) snapshots() session.Snapshots {
	if w.Keeper == nil {
		return nil
	}
	return w.Keeper
}

// sessions lists the stored sessions and caches them for FolderOf.
func (w *Conversation) sessions(ctx context.Context) ([]api.SessionHead, error) {
	out, err := hostio.Sessions(ctx, w.Stored)
	if err != nil {
		return nil, err
	}
	trees := worktree.Names(w.Settings.Places.State)
	for i := range out {
		out[i].Worktree = trees(out[i].Cwd)
	}
	w.listed.Lock()
	defer w.listed.Unlock()
	w.heads = out
	return out, nil
}
