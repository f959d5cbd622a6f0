package recorder

import (
	"context"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// An undo is in one of these places, and a process may be killed in each:
//
//	log          journal of the files   files           the next adze
//	nothing      nothing                as they were    has nothing to do
//	begun        nothing                as they were    stores that it was abandoned
//	begun        plan                   some put back   does the other steps
//	begun        result                 put back        stores the result
//	ended        result                 put back        removes the result
//	ended        nothing                put back        has nothing to do
//
// The steps are finished by whoever opens the folder next, which may be a run of another session
// (Keeper). The log is ended by whoever opens the session next (Manager.Finish).

// Interrupted reports whether a log names an undo that has begun and of which it knows no end.
func Interrupted(entries []session.Entry) bool { return len(begun(entries)) > 0 }

// begun are the undos of a log that have no end.
func begun(entries []session.Entry) (out []session.Undone) {
	for _, u := range undos(entries) {
		if u.Stage() == session.UndoBegun {
			out = append(out, u)
		}
	}
	return out
}

// undos are the undos of a log, each as its last entry has it.
func undos(entries []session.Entry) (out []session.Undone) {
	for _, e := range entries {
		if e.Type != session.UndoEntry {
			continue
		}
		_ = decoded(e, func(u session.Undone) { // a damaged one is told by who reads the log
			out = append(slices.DeleteFunc(out, func(o session.Undone) bool { return o.ID == u.ID }), u)
		})
	}
	return out
}

// Finish ends the undos of the log that were interrupted: those that are half-way are finished, and
// the log says what came of each. It returns those that put something back.
func (d Manager) Finish(ctx context.Context) (done []session.Undone, err error) {
	entries, err := d.Store.Load(ctx, d.Session)
	if err != nil {
		return nil, err
	}
	open := begun(entries)
	if len(open) > 0 {
		if _, err := d.Files.Recover(ctx); err != nil {
			return nil, err
		}
	}
	for _, u := range open {
		end, err := d.conclude(ctx, u)
		if err != nil {
			return done, err
		}
		if end.Stage() == session.UndoDone {
			done = append(done, end)
		}
	}
	return done, d.discard(entries)
}

// conclude stores how an undo that has begun ended, and returns that. One that is half-way has not
// ended, and is returned as it is.
func (d Manager) conclude(ctx context.Context, u session.Undone) (session.Undone, error) {
	stage, r, err := d.Files.Journal(u.ID)
	var end session.Undone
	switch {
	case err != nil || stage == undo.Applying:
		return u, err
	case stage == undo.Applied:
		end, err = d.result(ctx, u, r)
	default:
		end, err = d.withoutJournal(ctx, u)
	}
	if err != nil {
		return u, err
	}
	if err := d.log(ctx, end); err != nil {
		return u, err
	}
	_ = d.Files.Discard(u.ID) // Finish tries it again
	return end, nil
}

// result is the end of an undo whose steps are done.
func (d Manager) result(ctx context.Context, u session.Undone, r undo.Result) (session.Undone, error) {
	now := d.Now().UnixNano()
	u.State = session.UndoDone
	if len(r.Done) == 0 {
		u.State = session.UndoRefused
	}
	u.Before = session.State{Root: d.Root, Mark: r.Window.Before.String(), At: u.Before.At}
	u.After = &session.State{Root: d.Root, Mark: r.Window.After.String(), At: now}
	u.Done = len(r.Done)
	for _, x := range r.Refused {
		u.Refused = append(u.Refused, session.Refused{Path: x.Path, Reason: x.Reason})
	}
	u.Refused = u.Refused[:min(len(u.Refused), session.MaxFileChanges)]
	changes, err := d.Files.Diff(ctx, r.Window.Before, r.Window.After)
	if err == nil { // they are only shown
		u.Changes, u.More = listed(changes)
	}
	return u, ctx.Err()
}

// withoutJournal is the end of an undo of which the journal knows nothing. As a rule, it was killed
// before its first step. But a copy of the session may have discarded the result, so the files
// decide.
func (d Manager) withoutJournal(ctx context.Context, u session.Undone) (session.Undone, error) {
	done, err := d.isDone(ctx, u)
	if err != nil {
		return u, err
	}
	u.State = session.UndoAbandoned
	if done {
		u.State = session.UndoDone
	}
	return u, nil
}

// isDone reports whether each path of an undo is as the undo would leave it.
func (d Manager) isDone(ctx context.Context, u session.Undone) (bool, error) {
	past, err := d.Past(ctx)
	if err != nil {
		return false, err
	}
	windows, err := past.of(u.Turns, false)
	if u.Redo != "" {
		windows = nil
		for _, undone := range past.Undos {
			if undone.ID == u.Redo {
				windows, err = past.redoing(undone)
			}
		}
	}
	if err != nil || len(windows) == 0 {
		return false, err
	}
	plan, err := d.Files.Plan(ctx, u.Git, windows...)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	// A state that is not kept any more says nothing: the next undo tells it.
	return err == nil && len(plan.Steps) == 0 && len(plan.Refused) == 0, nil
}

// discard removes the results of undos that the log has ended.
func (d Manager) discard(entries []session.Entry) error {
	results := d.Files.Results()
	if len(results) == 0 {
		return nil
	}
	for _, u := range undos(entries) {
		if u.Stage() == session.UndoBegun || !slices.Contains(results, u.ID) {
			continue
		}
		if err := d.Files.Discard(u.ID); err != nil {
			return err
		}
	}
	return nil
}

// Manager is a desk on what the keeper keeps, as soon as its first state was taken.
func (k *Keeper) Desk(ctx context.Context, d Manager) (_ Manager, err error) {
	d.Files, err = k.Workspace(ctx)
	return d, err
}

// FinishFor finishes what is interrupted in the log of a desk, and says what the model must know of
// it.
func (k *Keeper) FinishFor(ctx context.Context, d Manager) (notes []session.Note) {
	if k == nil {
		return nil
	}
	d, err := k.Desk(ctx, d)
	if err != nil {
		return nil // the first call meets it, and tells it
	}
	done, err := d.Finish(ctx)
	if err != nil {
		k.tell("the log does not say what came of an undo that was interrupted: " + err.Error())
	}
	for _, u := range done {
		notes = append(notes, Note(u))
	}
	return notes
}
