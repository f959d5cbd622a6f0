package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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
		return "", false, fmt.Errorf("%w: %w", errStoreOpen, err)
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
	return fmt.Errorf("%w: %w", errStoreOpen, err)
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

// sessionCommand is adze session list|verify.
func (a *app) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "session", Short: "Look at stored sessions", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	list := &cobra.Command{Use: "list", Short: "List stored sessions, newest first", Args: cobra.NoArgs,
		Example: "  adze session list\n  adze session list --all",
		RunE:    func(c *cobra.Command, _ []string) error { return a.listSessions(c) }}
	list.Flags().Bool("all", false, "of all folders, not only of this one, and those of subagents")
	verify := &cobra.Command{Use: "verify ID", Short: "Walk a session's hash chain and name the first bad row", Args: cobra.ExactArgs(1),
		Example: "  adze session verify 20261121t0245",
		RunE:    func(c *cobra.Command, args []string) error { return a.verifySession(c.Context(), args[0]) }}
	for _, c := range []*cobra.Command{cmd, list, verify} {
		c.SetFlagErrorFunc(flagError)
	}
	cmd.AddCommand(list, verify)
	return cmd
}

// damagedError says that a row is not as it was written.
type damagedError struct{ row *store.BadRow }

func (e *damagedError) Error() string { return e.row.Error() }

func (a *app) openStore(ctx context.Context, o *options, at places) (session.Store, error) {
	if o.noSession || o.demo {
		return store.NewMemory(), nil
	}
	s, err := store.Open(ctx, filepath.Join(at.state, "sessions.db"), store.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStoreOpen, err)
	}
	return s, nil
}

func (a *app) withStore(ctx context.Context, use func(*store.Store) error) error {
	s, err := store.Open(ctx, filepath.Join(userPlaces(a.getenv).state, "sessions.db"), store.Options{})
	if err != nil {
		return fmt.Errorf("%w: %w", errStoreOpen, err)
	}
	a.tellLosses(lossOf(s))
	return errors.Join(use(s), s.Close())
}

// lossOf tells what a damaged store left behind when it was opened, in lines; none when it was sound.
func lossOf(logs session.Store) []string {
	s, ok := logs.(*store.Store)
	if !ok || s.Salvaged() == nil {
		return nil
	}
	return strings.Split(s.Salvaged().String(), "\n")
}

func (a *app) tellLosses(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(a.err, "! %s\n", safeterm.Name(line))
	}
}

func (a *app) listSessions(c *cobra.Command) error {
	all, _ := c.Flags().GetBool("all")
	dir, err := a.folder(&options{}, nil)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return a.withStore(c.Context(), func(s *store.Store) error {
		heads, err := s.List(c.Context())
		if err != nil {
			return fmt.Errorf("%w: %w", errStoreOpen, err)
		}
		table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, h := range heads {
			info := h.Info()
			if !all && (info.Cwd != dir || info.Agent != "") {
				continue
			}
			title := h.Title()
			if info.Agent != "" {
				title = info.Agent + " (subagent of " + string(info.Parent) + ")"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", safeterm.Name(string(h.ID)), h.Updated.Local().Format("2006-01-02 15:04"),
				safeterm.Name(info.Model), safeterm.Name(title))
		}
		return table.Flush()
	})
}

func (a *app) verifySession(ctx context.Context, prefix string) error {
	return a.withStore(ctx, func(s *store.Store) error {
		heads, err := s.List(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", errStoreOpen, err)
		}
		id, err := byPrefix(heads, prefix)
		if err != nil {
			return err
		}
		rows, err := s.Verify(ctx, id)
		var bad *store.BadRow
		if errors.As(err, &bad) {
			return &damagedError{bad}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errStoreOpen, err)
		}
		fmt.Fprintf(a.out, "%s: all %d rows are as they were written\n", safeterm.Name(string(id)), rows)
		return nil
	})
}
