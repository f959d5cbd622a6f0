package recorder

import (
	"context"
	"slices"

	"adze/internal/undo"
	"adze/session"
)

// An undo is in one of these states, and its process may be killed in each:
//
//	log          journal of the files   files           the next adze
//	nothing      nothing                as they were    has nothing to do
//	begun        nothing                as they were    logs that it was abandoned
//	begun        plan                   some restored   does the other steps
//	begun        result                 restored        logs the result
//	ended        result                 restored        removes the result
//	ended        nothing                restored        has nothing to do
//
// The next opener of the folder finishes the steps, perhaps a run of another session (Keeper). The
// next opener of the session completes the log (Manager.Finish).

// Interrupted reports whether a log has an undo without an end.
func Interrupted(entries []session.Entry) bool { return len(begun(entries)) > 0 }

// begun returns a log's undos without an end.
func begun(entries []session.Entry) (out []session.UndoData) {
	for _, u := range undos(entries) {
		if u.Stage() == session.UndoBegun {
			out = append(out, u)
		}
	}
	return out
}

// undos returns a log's undos, each as in its last entry.
func undos(entries []session.Entry) (out []session.UndoData) {
	for _, e := range entries {
		if e.Type != session.UndoEntry {
			continue
		}
		_ = decoded(e, func(u session.UndoData) { // the log's reader reports damaged entries
			out = append(slices.DeleteFunc(out, func(o session.UndoData) bool { return o.ID == u.ID }), u)
		})
	}
	return out
}

// Finish completes the log's interrupted undos: it finishes their steps and logs the results. It
// returns those that restored something.
func (d Manager) Finish(ctx context.Context) (done []session.UndoData, err error) {
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

// conclude logs and returns the end of an undo that has begun. One that still has steps to do is
// returned unchanged.
func (d Manager) conclude(ctx context.Context, u session.UndoData) (session.UndoData, error) {
	stage, r, err := d.Files.Journal(u.ID)
	var end session.UndoData
	switch {
	case err != nil || stage == undo.Applying:
		return u, err
	case stage == undo.Applied:
		end, err = d.result(ctx, u, r)
	default:
		end = u
		end.State = session.UndoAbandoned
	}
	if err != nil {
		return u, err
	}
	if err := d.log(ctx, end); err != nil {
		return u, err
	}
	_ = d.Files.Discard(u.ID) // Finish tries again
	return end, nil
}

// result returns the final entry of an undo whose steps are done.
func (d Manager) result(ctx context.Context, u session.UndoData, r undo.Result) (session.UndoData, error) {
	now := d.Now().UnixNano()
	u.State = session.UndoDone
	if len(r.Done) == 0 {
		u.State = session.UndoRefused
	}
	u.Before = session.State{Root: d.Root, Mark: r.Window.Before.String(), Time: u.Before.Time}
	u.After = &session.State{Root: d.Root, Mark: r.Window.After.String(), Time: now}
	u.Done = len(r.Done)
	for _, x := range r.Refused {
		u.Refused = append(u.Refused, session.Refused{Path: x.Path, Reason: x.Reason})
	}
	u.Refused = u.Refused[:min(len(u.Refused), session.MaxFileChanges)]
	changes, err := d.Files.Diff(ctx, r.Window.Before, r.Window.After)
	if err == nil { // for display only
		u.Changes, u.More = listed(changes)
	}
	return u, ctx.Err()
}

// discard removes the results of undos that have ended in the log.
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

// CompleteManager completes d with the keeper's workspace once its first state was taken.
func (k *Keeper) CompleteManager(ctx context.Context, d Manager) (_ Manager, err error) {
	d.Files, err = k.Workspace(ctx)
	return d, err
}

// FinishFor finishes the interrupted undos in d's log and returns notes for the model.
func (k *Keeper) FinishFor(ctx context.Context, d Manager) (notes []session.Note) {
	if k == nil {
		return nil
	}
	d, err := k.CompleteManager(ctx, d)
	if err != nil {
		return nil // the first call meets and reports it
	}
	done, err := d.Finish(ctx)
	if err != nil {
		k.notify("the log does not say what came of an undo that was interrupted: " + err.Error())
	}
	for _, u := range done {
		notes = append(notes, Note(u))
	}
	return notes
}
