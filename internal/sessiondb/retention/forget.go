// Package retention lets stored sessions go with all that adze kept of them: their log and those of
// their subagents, their words in the search index, whole outputs, and their prompts among those
// that the user wrote before, and changes of a staged turn that wait.
//
// The one rule: nothing goes that is open or that nobody named, by hand or by a rule of theirs; and
// what may still hold a word of it is told.
//
// Start reading at Room.Sessions; tidy.go is the rules of the configuration, server.go what goes
// from servers by the same rule. Known limits: states of files that undo keeps belong to a folder
// and not to a session, and go by their own rules; a damaged file that was
// put aside is named and left.
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

// Room is where sessions are kept.
type Room struct {
	Store   *sessiondb.Store
	Outputs string                             // the folder of whole outputs, one in it for each session
	Prompts func(folder string, said []string) // drops what the user wrote in a folder; if nil, it is not kept
	Stage   func(session.ID) error             // drops changes of staged turns that wait; if nil, there are none
}

// Done is what went.
type Done struct {
	Removed []sessiondb.Removed
	// Remains tells what may still hold words of it, a line each.
	Remains []string
}

// Sessions lets sessions go for ever, and those of their subagents: all or none of their logs, then
// the rest.
func (r Room) Sessions(ctx context.Context, ids ...session.ID) (done Done, err error) {
	if err := r.drop(ctx, sessiondb.ByHand, &done, ids...); err != nil {
		return done, err
	}
	r.cleanWords(ctx, &done)
	if err := r.Store.Owner().Scrub(ctx); errors.Is(err, sessiondb.ErrInUse) {
		done.Remains = append(done.Remains, "unused parts of the session store: another adze has it open; delete something once more when it has ended")
	} else if err != nil {
		return done, err
	}
	kept, _ := filepath.Glob(r.Store.Path() + "*.damaged-*") // the pattern is sound
	for _, file := range kept {
		done.Remains = append(done.Remains, file+": kept when the store was damaged")
	}
	return done, nil
}

// drop takes sessions out of the store, and what lies beside it.
func (r Room) drop(ctx context.Context, why string, done *Done, ids ...session.ID) error {
	said := r.said(ctx, ids)
	removed, err := r.Store.Owner().RemoveAfter(ctx, why, func(going []sessiondb.Removed) { r.dropBeside(going, said, done) }, ids...)
	if err != nil {
		return err
	}
	done.Removed = append(done.Removed, removed...)
	return nil
}

// dropBeside drops what is kept beside the store. The sessions are still in it: without them,
// nobody would know what to drop.
func (r Room) dropBeside(going []sessiondb.Removed, said map[string][]string, done *Done) {
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

// cleanWords takes the words of what went out of the file, too.
func (r Room) cleanWords(ctx context.Context, done *Done) {
	if len(done.Removed) == 0 {
		return
	}
	if err := r.Store.Owner().CleanWords(ctx); err != nil {
		done.Remains = append(done.Remains, fmt.Sprintf("the search index: %v", err))
	}
}

// said are the prompts of sessions, by the folder that they were written in.
func (r Room) said(ctx context.Context, ids []session.ID) map[string][]string {
	out := map[string][]string{}
	for _, id := range ids {
		log, err := r.Store.Load(ctx, id)
		if err != nil {
			continue // removing it tells why
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
