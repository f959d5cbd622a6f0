// Package lookup finds the session to resume, and forks it if requested.
//
// The one rule: a session has one writer; a copy has an ID of its own.
//
// Start reading at Pick; fork.go copies sessions and counts turns. Known limits: a copy does not
// follow later changes of its original.
package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
)

// A Wish selects a run's session. The zero value means a new one.
type Selection struct {
	ID    string // an ID's prefix
	Last  bool   // the newest of the folder
	Fork  bool   // resume a copy
	NewID string // a new session's ID; optional
}

// Pick returns the session to resume, or a new ID.
func Pick(ctx context.Context, w Selection, logs session.Store, dir string) (id session.ID, resumed bool, err error) {
	if w.ID == "" && !w.Last {
		if w.NewID != "" {
			if _, err := logs.Load(ctx, session.ID(w.NewID)); err == nil {
				return "", false, usage.Mistake("go on with it: --resume "+w.NewID, "there is a session %s already", w.NewID)
			}
		}
		return session.ID(cmp.Or(w.NewID, string(session.NewID(time.Now())))), false, nil
	}
	heads, err := logs.List(ctx)
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	if w.Last {
		id, err = newestIn(heads, dir)
	} else {
		id, err = ByPrefix(heads, w.ID)
	}
	if err == nil && !w.Fork {
		err = ofPerson(heads, id)
	}
	if err != nil || !w.Fork {
		return id, true, err
	}
	id, err = Fork(ctx, logs, id, 0)
	return id, true, err
}

// Lock makes this process the writer at once, so a run's first commit waits only for the disk.
func Lock(ctx context.Context, logs session.Store, id session.ID) error {
	err := logs.Lock(ctx, id)
	if err == nil || errors.Is(err, session.ErrLocked) {
		return err
	}
	return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
}

func newestIn(heads []session.Head, dir string) (session.ID, error) {
	for _, h := range heads {
		if info := h.Info(); info.Cwd == dir && info.Agent == "" {
			return h.ID, nil
		}
	}
	return "", usage.Mistake("start one without --continue, or name one with --resume ID", "no session of %s is stored", dir)
}

// ofPerson refuses to resume a subagent's log: only its parent knows its permissions.
func ofPerson(heads []session.Head, id session.ID) error {
	for _, h := range heads {
		if info := h.Info(); h.ID == id && info.Agent != "" {
			return usage.Mistake("resume that session, or go on with a copy: --fork", "%s is the log of a subagent of the session %s", id, info.Parent)
		}
	}
	return nil
}

// ByPrefix finds a session by its ID's prefix. It returns a subagent's only if no other matches.
func ByPrefix(heads []session.Head, prefix string) (session.ID, error) {
	var found, subagents []string
	for _, h := range heads {
		switch {
		case string(h.ID) == prefix:
			return h.ID, nil
		case !strings.HasPrefix(string(h.ID), prefix):
		case h.Info().Agent != "":
			subagents = append(subagents, string(h.ID))
		default:
			found = append(found, string(h.ID))
		}
	}
	if len(found) == 0 {
		found = subagents
	}
	switch len(found) {
	case 1:
		return session.ID(found[0]), nil
	case 0:
		return "", fmt.Errorf("%w: %q", session.ErrNotFound, prefix)
	}
	return "", usage.Mistake("give more of the id: "+strings.Join(found, ", "), "%q is the beginning of %d sessions", prefix, len(found))
}

// Losses describes a damaged store's losses in lines. It returns nil if the store was intact.
func Losses(logs session.Store) []string {
	s, ok := logs.(*sessiondb.Store)
	if !ok {
		return nil
	}
	if s.Salvaged() == nil {
		return nil
	}
	return strings.Split(s.Salvaged().String(), "\n")
}
