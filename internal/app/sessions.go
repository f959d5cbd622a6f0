package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/place"
	"adze/internal/safeterm"
	"adze/internal/store"
	"adze/session"
)

// pickSession finds the session to go on with, or names a new one.
func pickSession(ctx context.Context, o *options, logs session.Store, dir string) (id session.ID, resumed bool, err error) {
	if o.resume == "" && !o.resumeLast {
		return session.NewID(time.Now()), false, nil
	}
	heads, err := logs.List(ctx)
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", store.ErrOpen, err)
	}
	if o.resumeLast {
		id, err = newestIn(heads, dir)
	} else {
		id, err = byPrefix(heads, o.resume)
	}
	if err == nil && !o.fork {
		err = ofPerson(heads, id)
	}
	if err != nil || !o.fork {
		return id, true, err
	}
	id, err = fork(ctx, logs, id)
	return id, true, err
}

// lockSession makes this process the writer at once: the first commit of a run waits for nothing but the
// disk then.
func lockSession(ctx context.Context, logs session.Store, id session.ID) error {
	err := logs.Lock(ctx, id)
	if err == nil || errors.Is(err, session.ErrLocked) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrOpen, err)
}

func newestIn(heads []session.Head, dir string) (session.ID, error) {
	for _, h := range heads {
		if info := h.Info(); info.Cwd == dir && info.Agent == "" {
			return h.ID, nil
		}
	}
	return "", misuse("start one without --continue, or name one with --resume ID", "no session of %s is stored", dir)
}

// ofPerson refuses to go on with the log of a subagent: only its parent knows what it may do.
func ofPerson(heads []session.Head, id session.ID) error {
	for _, h := range heads {
		if info := h.Info(); h.ID == id && info.Agent != "" {
			return misuse("resume that session, or go on with a copy: --fork", "%s is the log of a subagent of the session %s", id, info.Parent)
		}
	}
	return nil
}

// byPrefix finds the session that a person means: a subagent's only where no other fits.
func byPrefix(heads []session.Head, prefix string) (session.ID, error) {
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
	return "", misuse("give more of the id: "+strings.Join(found, ", "), "%q is the beginning of %d sessions", prefix, len(found))
}

// fork copies a session under a new id; the old one may be open elsewhere.
func fork(ctx context.Context, logs session.Store, from session.ID) (session.ID, error) {
	entries, err := logs.Load(ctx, from)
	if err != nil {
		return "", err
	}
	for i, e := range entries {
		if e.Type != session.StartEntry {
			continue
		}
		var s session.Start
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return "", fmt.Errorf("fork %s: %w", from, err)
		}
		s.Parent, s.Agent, s.Call = from, "", "" // a copy of a subagent's log works for nobody
		if entries[i].Data, err = json.Marshal(s); err != nil {
			return "", fmt.Errorf("fork %s: %w", from, err)
		}
	}
	id := session.NewID(time.Now())
	return id, logs.Append(ctx, id, entries...)
}

func (a *app) openStore(ctx context.Context, o *options, at place.Places) (session.Store, error) {
	if o.noSession || o.demo {
		return store.NewMemory(), nil
	}
	s, err := store.Open(ctx, filepath.Join(at.State, "sessions.db"), store.Options{Mask: a.log().Entry})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrOpen, err)
	}
	return s, nil
}

// lossOf tells what a damaged store left behind when it was opened, in lines; none when it was sound.
func lossOf(logs session.Store) []string {
	s, ok := logs.(*store.Store)
	if !ok {
		return nil
	}
	lines := slices.Clone(s.Notices())
	if s.Salvaged() != nil {
		lines = append(lines, strings.Split(s.Salvaged().String(), "\n")...)
	}
	return lines
}

func (a *app) tellLosses(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(a.Err, "! %s\n", safeterm.Name(line))
	}
}
