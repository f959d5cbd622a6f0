package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/undo"
	"adze/internal/whole"
	"adze/session"
)

// An undo whose process was killed is finished by whoever opens the folder next, which may be a run of another session.
// What came of it waits beside the states, until the log of its own session is open and says it.

// finished is where the result of an undo waits for its log.
func finished(state, id string) string { return filepath.Join(state, "finished."+id+".json") }

// keepResult writes down what came of an undo that was finished here.
func (k *Keeper) keepResult(ws *undo.Workspace, r undo.Result) error {
	now := time.Now().UnixNano()
	u := session.Undone{ID: r.ID, Done: len(r.Done)}
	u.Before = session.State{Root: k.o.Root, Mark: r.Window.Before.String(), At: now}
	u.After = &session.State{Root: k.o.Root, Mark: r.Window.After.String(), At: now + 1}
	for _, x := range r.Refused[:min(len(r.Refused), session.MaxFileChanges)] {
		u.Refused = append(u.Refused, session.Refused{Path: x.Path, Reason: x.Reason})
	}
	changes, err := ws.Diff(k.life, r.Window.Before, r.Window.After)
	if err != nil {
		return err
	}
	u.Changes, u.More = listed(changes)
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return whole.Write(finished(k.o.State, r.ID), data)
}

// Interrupted reports whether a log names an undo that has begun and of which it knows no end.
func Interrupted(entries []session.Entry) bool { return len(begun(entries)) > 0 }

// begun are the undos of a log that have no result.
func begun(entries []session.Entry) (out []session.Undone) {
	for _, e := range entries {
		if e.Type != session.UndoEntry {
			continue
		}
		_ = decoded(e, func(u session.Undone) { // a damaged one is told by who reads the log
			out = slices.DeleteFunc(out, func(o session.Undone) bool { return o.ID == u.ID })
			if u.After == nil {
				out = append(out, u)
			}
		})
	}
	return out
}

// Finish has the log say what came of its undos that were interrupted and are finished since.
func (d Desk) Finish(ctx context.Context) (done []session.Undone, err error) {
	entries, err := d.Store.Load(ctx, d.Session)
	if err != nil {
		return nil, err
	}
	for _, u := range begun(entries) {
		path := finished(d.Files.State(), u.ID)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended without a result, before its first step or in an older adze
		}
		var result session.Undone
		if err == nil {
			err = json.Unmarshal(data, &result)
		}
		if err != nil {
			return done, err
		}
		u.Window, u.Done, u.Refused = result.Window, result.Done, result.Refused
		if err := d.log(ctx, u); err != nil {
			return done, err
		}
		done = append(done, u)
		_ = os.Remove(path) // the log says it; another one would say the same
	}
	return done, nil
}

// Desk is a desk on what the keeper keeps, as soon as its first state was taken.
func (k *Keeper) Desk(ctx context.Context, d Desk) (_ Desk, err error) {
	d.Files, err = k.Workspace(ctx)
	return d, err
}

// FinishFor finishes what is interrupted in the log of a desk, and says what the model must know of it.
func (k *Keeper) FinishFor(ctx context.Context, d Desk) (notes []session.Note) {
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
