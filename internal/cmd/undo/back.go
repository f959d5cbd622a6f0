// Package undo implements adze undo and adze undo redo, which restore files from before the turns
// of a session.
//
// The one rule: a command does exactly what its dry run shows, and names each skipped path with its
// reason.
//
// Start reading at Commands. Package recorder does the work.
//
// Known limits: none. The tests run the whole program and are in internal/cmd.
package undo

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/text/usage"
	"adze/internal/undo/recorder"
	"adze/session"
)

// Program is the interface to the program that these commands use.
type Program interface {
	cmd.StoreReader
	// Undoing opens a session, its folder and its stored states. With look it only reads and also
	// works where writing is impossible.
	Undoing(ctx context.Context, look bool, pick func([]session.Head) (session.ID, error), use func(recorder.Manager) error) error
}

type back struct {
	*cmd.Env
	Program
}

// Commands returns adze undo, with redo below it, and redo's former name.
func Commands(e *cmd.Env, p Program) []*cobra.Command {
	b := back{e, p}
	return append(cmd.HideOldNames(b.redo()), cmd.WithSubcommands(b.undo(), b.redo()))
}

const undoLong = `Puts files back as they were before what the last turn of a session did to them: its edits and its commands, those of its
subagents and of what it left running in the background. A file that somebody else changed, in between or since, stays as
it is and is named; so does what undo does not cover, and what changed while a command ran and may have been changed by you or
another program: --unknown puts that back, too. What a command changes in a view of the sandbox is known. git's own state
stays, too, unless --git is given.

Exits with 0, with 7 when a path was left as it is, or with 2 when there is nothing to undo. adze undo redo takes an undo back.`

func (b back) undo() *cobra.Command {
	c := &cobra.Command{Use: "undo", Short: "Restore files as they were before the last turn", Long: undoLong, Args: cmd.RangeArgs(0, 0),
		Example: "  adze undo --dry-run\n  adze undo\n  adze undo --list\n  adze undo --to 2   # as they were after turn 2; 0: before the first",
		RunE:    b.untilSignal(b.runUndo)}
	f := c.Flags()
	f.Int("to", 0, "undo every turn after this `TURN`; --list shows their numbers")
	f.Bool("list", false, "list the turns and what they changed, and undo nothing")
	f.Bool("git", false, "put back git's own state too: HEAD, index, branches")
	f.Bool("unknown", false, "also put back what changed while a command ran, or adze was killed in one, without anybody to see who changed it")
	f.StringArray("forget", nil, "drop what is kept of this `PATH` of the folder, in all states, and keep nothing of it from now on")
	b.both(c)
	return c
}

func (b back) redo() *cobra.Command {
	c := &cobra.Command{Use: "redo", Short: "Reverse the last undo", Args: cmd.RangeArgs(0, 0),
		Example: "  adze undo redo --dry-run\n  adze undo redo",
		RunE: b.untilSignal(func(c *cobra.Command) error {
			return b.run(c, recorder.UndoOptions{Redo: true, Git: cmd.Flagged(c, "git")})
		})}
	c.Long = "Puts files back as they were before the last undo of a session, and git's own state where that undo put it back. Exits as adze\nundo does."
	c.Flags().Bool("git", false, "put back git's own state too, also where the undo did not")
	b.both(c)
	return c
}

// untilSignal makes a signal end a command before its first change. After that the command
// finishes, unless a second signal arrives.
func (b back) untilSignal(run func(*cobra.Command) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		ctx, cancel := context.WithCancelCause(c.Context())
		defer cancel(nil)
		stop := signals.Watch(cancel, func(cause session.Cause) { os.Exit(stream.ExitCode(cause)) }, nil)
		defer stop()
		c.SetContext(ctx)
		err := run(c)
		if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
			b.Conclude(session.Sort(cause).Cause, c.Name()+" was ended before it changed a file", "")
			return nil
		}
		return err
	}
}

func (b back) both(c *cobra.Command) {
	f := c.Flags()
	f.Bool("dry-run", false, "say what would be done, and do nothing")
	f.String("session", "", "of the session of this `ID`, not the newest of this folder (a unique beginning is enough)")
	f.Bool("json", false, "print one JSON object per line")
	c.SetFlagErrorFunc(cmd.FlagError)
	_ = c.RegisterFlagCompletionFunc("session", b.sessions) // fails only for an unknown flag
}

func (b back) sessions(c *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	_ = b.Store(c.Context(), func(s *sessiondb.Store) error {
		heads, err := s.List(c.Context())
		for _, h := range heads {
			if h.Info().Agent == "" {
				ids = append(ids, string(h.ID)+"\t"+h.Title())
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func (b back) pick(c *cobra.Command) func([]session.Head) (session.ID, error) {
	prefix, _ := c.Flags().GetString("session")
	return func(heads []session.Head) (session.ID, error) {
		if prefix != "" {
			return b.Session(heads, prefix)
		}
		dir, err := b.CurrentFolder()
		if err != nil {
			return "", err
		}
		for _, h := range heads {
			if info := h.Info(); info.Cwd == dir && info.Agent == "" {
				return h.ID, nil
			}
		}
		return "", usage.Mistake("name one with --session; adze sessions list --all shows them", "no session of %s is stored", dir)
	}
}

func (b back) runUndo(c *cobra.Command) error {
	if paths, _ := c.Flags().GetStringArray("forget"); len(paths) > 0 {
		return b.Undoing(c.Context(), false, b.pick(c), func(d recorder.Manager) error { return b.forget(c, d, paths) })
	}
	if cmd.Flagged(c, "list") {
		return b.Undoing(c.Context(), true, b.pick(c), func(d recorder.Manager) error { return b.list(c, d) })
	}
	w := recorder.UndoOptions{Git: cmd.Flagged(c, "git"), Unknown: cmd.Flagged(c, "unknown")}
	if c.Flags().Changed("to") {
		to, _ := c.Flags().GetInt("to")
		w.ToTurn = &to
	}
	return b.run(c, w)
}

func (b back) run(c *cobra.Command, w recorder.UndoOptions) error {
	return b.Undoing(c.Context(), cmd.Flagged(c, "dry-run"), b.pick(c), func(d recorder.Manager) error {
		p, err := d.Plan(c.Context(), w)
		if err != nil {
			return mistaken(err)
		}
		r := report{Session: d.Session, DryRun: cmd.Flagged(c, "dry-run"), Redo: w.Redo, Steps: p.Steps, Refused: p.Refused, Git: p.Git, asks: p.Asks()}
		for _, t := range p.Turns {
			r.Turns = append(r.Turns, turnLine{Turn: t.Number, Message: t.Message, Asked: t.Asked})
		}
		for _, l := range d.Files.LeftOut() {
			r.LeftOut = append(r.LeftOut, l.Path)
		}
		if !r.DryRun {
			done, err := p.Apply(c.Context())
			if err != nil {
				return err
			}
			r.did(done)
		}
		if len(r.Refused) > 0 {
			b.Conclude(session.CauseDenied, "", "")
		}
		if cmd.Flagged(c, "json") {
			return b.WriteJSON(r)
		}
		return r.write(b.Stdout())
	})
}

// mistaken converts an avoidable error to one with the next step.
func mistaken(err error) error {
	switch {
	case errors.Is(err, recorder.ErrNothing), errors.Is(err, recorder.ErrNoTurn):
		return usage.Mistake("adze undo --list shows the turns and what they changed", "%v", err)
	case errors.Is(err, recorder.ErrNoRedo):
		return usage.Mistake("adze undo --list shows what was undone", "%v", err)
	}
	return fmt.Errorf("undo: %w", err)
}
