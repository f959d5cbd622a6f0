package conversation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/project/worktree"
	"adze/internal/run/hostio"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb/buffered"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/session/api"
)

// shortRun is with how many calls a run is no short one any more.
const shortRun = 12

// beside starts what a run does beside the first answer of a model: looking for it before the first
// request would make every start wait. A killed adze may have left something running, which is
// ended; the run ends after that. And with the first call, the files that one may change are looked
// at.
func (w *Conversation) beside(underWay func(), ledger *proc.Ledger, observe func(session.Event)) func(session.Event) {
	var once sync.Once
	var calls atomic.Int64
	var running sync.WaitGroup
	w.closers = append(w.closers, running.Wait)
	return func(e session.Event) {
		if answered(e) {
			once.Do(func() {
				running.Go(func() { _, _ = ledger.Reap() }) // what cannot be read now is tried at the next start
				w.Servers.WakeUnseen()
			})
		}
		if _, ok := e.(session.ToolQueued); ok && calls.Add(1) == shortRun {
			underWay()
		}
		switch e.(type) {
		case session.CallForming, session.ToolQueued:
			w.Keeper.Begin()
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

// Undo puts files back for the user, and has the model told with the next prompt.
func (w *Conversation) Undo(ctx context.Context, wish api.Undo) (api.Undone, error) {
	d, err := w.Keeper.Desk(ctx, w.folder())
	if err != nil {
		return api.Undone{}, err
	}
	out, u, err := hostio.Undo(ctx, d, wish, w.Session.Said())
	if u != nil {
		w.observe(session.FilesChanged{Window: u.Window})
	}
	if u != nil && !wish.Since && u.Done > 0 {
		w.Session.Note(recorder.Note(*u))
	}
	return out, err
}

// folder is where the turns of the session are undone.
func (w *Conversation) folder() recorder.Manager {
	return recorder.Manager{Root: w.Settings.Root.Dir(), Store: w.Stored, Session: w.Session.ID(), Running: true, Now: time.Now, Others: w.Stored, ChangeLog: w.ChangeLog,
		Git: settings.Repositories(w.Settings.Config, w.Settings.Root.Dir())}
}

// patience has a session go on while its store cannot save.
func (w *Conversation) patience(stored session.Store) session.Store {
	below, can := stored.(buffered.Again)
	if !can {
		return stored
	}
	w.Patient = buffered.New(below, buffered.Options{})
	w.closers = append(w.closers, func() { _ = w.Patient.Settle() }) // who judges the run by it tells it
	return w.Patient
}

// snapshots is the keeper as a session takes it: nil where there is none.
func (w *Conversation) snapshots() session.Snapshots {
	if w.Keeper == nil {
		return nil
	}
	return w.Keeper
}

// sessions lists what is stored, and remembers it: the folder of one that is opened is in it.
func (w *Conversation) sessions(ctx context.Context) ([]api.SessionHead, error) {
	out, err := hostio.Sessions(ctx, w.Stored)
	if err != nil {
		return nil, err
	}
	trees := worktree.Names(w.Settings.At.State)
	for i := range out {
		out[i].Worktree = trees(out[i].Cwd)
	}
	w.listed.Lock()
	defer w.listed.Unlock()
	w.heads = out
	return out, nil
}
