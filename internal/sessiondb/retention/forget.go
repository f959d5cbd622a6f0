// Package retention removes stored sessions with all their data: their log and their subagents'
// logs, their words in the search index, full outputs, their prompts in the input history, and
// waiting changes of a staged turn.
//
// The one rule: only sessions the user selected, by hand or by a rule, and that are not open are
// removed; remaining copies are reported.
//
// Start reading at DataPlaces.Sessions; tidy.go has the configured rules, server.go the same for
// servers. Known limits: undo's states belong to a folder and not to a session, and have their own
// rules; a damaged database set aside is reported but kept.
package retention

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/session"
)

// A Room holds the places with sessions' data.
type DataPlaces struct {
	Store   *sessiondb.Store
	Outputs string                             // folder of full outputs, with one folder per session
	Prompts func(folder string, said []string) // deletes the user's prompts in a folder from the history; nil without a history
	Stage   func(session.ID) error             // deletes a session's staged changes; may be nil
}

// Done is the result of a removal.
type Done struct {
	Removed []sessiondb.Removed
	// Remains lists the places that may still contain the sessions' text, one line each.
	Remains []string
}

// Sessions permanently removes sessions and those of their subagents: all or none of their logs,
// then the rest.
func (r DataPlaces) Sessions(ctx context.Context, ids ...session.ID) (done Done, err error) {
	if err := r.drop(ctx, sessiondb.ByHand, &done, ids...); err != nil {
		return done, err
	}
	r.cleanWords(ctx, &done)
	if err := r.Store.Owner().Scrub(ctx); errors.Is(err, sessiondb.ErrInUse) {
		done.Remains = append(done.Remains, "unused parts of the session store: another adze has it open; delete something once more when it has ended")
	} else if err != nil {
		return done, err
	}
	kept, _ := filepath.Glob(r.Store.Path() + "*.damaged-*") // the pattern is well-formed
	for _, file := range kept {
		done.Remains = append(done.Remains, file+": kept when the store was damaged")
	}
	return done, nil
}

// drop removes sessions from the store, and their other data.
func (r DataPlaces) drop(ctx context.Context, why string, done *Done, ids ...session.ID) error {
	said := r.said(ctx, ids)
	removed, err := r.Store.Owner().RemoveAfter(ctx, why, func(going []sessiondb.Removed) { r.dropBeside(going, said, done) }, ids...)
	if err != nil {
		return err
	}
	done.Removed = append(done.Removed, removed...)
	return nil
}

// dropBeside deletes the data outside the store. The sessions are still in the store: without them,
// it would be unknown what to delete.
func (r DataPlaces) dropBeside(going []sessiondb.Removed, said map[string][]string, done *Done) {
	for _, gone := range going {
		if err := os.RemoveAll(filepath.Join(r.Outputs, string(gone.ID))); err != nil {
			done.Remains = append(done.Remains, fmt.Sprintf("its whole outputs: %v", err))
		}
		if r.Stage == nil {
			continue
		}
		if err := r.Stage(gone.ID); err != nil {
			done.Remains = append(done.Remains, fmt.Sprintf("changes of its staged turn: %v", err))
		}
	}
	for folder, texts := range said {
		if r.Prompts != nil {
			r.Prompts(folder, texts)
		}
	}
}

// cleanWords erases the removed sessions' words from the file too.
func (r DataPlaces) cleanWords(ctx context.Context, done *Done) {
	if len(done.Removed) == 0 {
		return
	}
	if err := r.Store.Owner().CleanWords(ctx); err != nil {
		done.Remains = append(done.Remains, fmt.Sprintf("the search index: %v", err))
	}
}

func (r DataPlaces) said(ctx context.Context, ids []session.ID) map[string][]string {
	out := map[string][]string{}
	for _, id := range ids {
		log, err := r.Store.Load(ctx, id)
		if err != nil {
			continue // removing it returns the error
		}
		folder := ""
		for _, e := range log {
			if e.Type == session.StartEntry && folder == "" {
				folder = session.Head{Start: e.Data}.Info().Cwd
			}
		}
		for _, t := range lookup.Turns(log) {
			out[folder] = append(out[folder], t.Prompt.Text())
		}
	}
	return out
}
