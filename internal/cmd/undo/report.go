package undo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/internal/undo/recorder"
	"adze/session"
)

// report is the result of an undo or dry run.
type report struct {
	Session session.ID        `json:"session"`
	Redo    bool              `json:"redo,omitempty"`
	DryRun  bool              `json:"dry_run"`
	Turns   []turnLine        `json:"turns"`
	Steps   []recorder.Step   `json:"paths"`
	Refused []session.Refused `json:"refused,omitempty"`
	Git     int               `json:"git_left,omitempty"` // skipped changes to git's own state
	LeftOut []string          `json:"left_out,omitempty"` // files that undo does not cover
	asks    bool
}

// turnLine is a turn in --list --json.
type turnLine struct {
	Turn    int        `json:"turn"`
	Message string     `json:"message"`
	Asked   string     `json:"asked"`
	Time    *time.Time `json:"time,omitempty"`
	Paths   []string   `json:"paths,omitempty"`
	Undone  bool       `json:"undone,omitempty"`
	Pending bool       `json:"half_undone,omitempty"` // an undo of it was interrupted
}

// did records the completed steps.
func (r *report) did(d recorder.UndoResult) {
	r.Steps = slices.DeleteFunc(r.Steps, func(s recorder.Step) bool { return !slices.Contains(d.Paths, s.Path) })
	r.Refused = d.Refused
}

const mostShown = 100

func (r report) write(to io.Writer) error {
	var b bytes.Buffer
	verb := map[[2]bool]string{{false, false}: "undone", {false, true}: "redone", {true, false}: "to undo", {true, true}: "to redo"}[[2]bool{r.DryRun, r.Redo}]
	for _, t := range r.Turns {
		fmt.Fprintf(&b, "%s: turn %d: %s\n", verb, t.Turn, safeterm.Name(t.Asked))
	}
	for i, s := range r.Steps {
		if i == mostShown {
			fmt.Fprintf(&b, "  … and %d more\n", len(r.Steps)-i)
			break
		}
		fmt.Fprintf(&b, "  %-8s %s\n", s.Action, safeterm.Name(s.Path))
	}
	if len(r.Steps) == 0 && len(r.Refused) == 0 {
		b.WriteString("  the files are so already\n")
	}
	if len(r.Refused) > 0 {
		b.WriteString("left as it is:\n")
	}
	for i, x := range r.Refused {
		if i == mostShown {
			fmt.Fprintf(&b, "  … and %d more\n", len(r.Refused)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", safeterm.Name(x.Path), x.Reason)
	}
	if r.asks {
		b.WriteString("adze undo --unknown puts back also what a command, you or another program may have changed\n")
	}
	if r.Git > 0 {
		fmt.Fprintf(&b, "git's own state changed, too, and stays: --git puts it back\n")
	}
	if r.DryRun && len(r.LeftOut) > 0 {
		fmt.Fprintf(&b, "not covered at all: %d paths, such as %s\n", len(r.LeftOut), safeterm.Name(r.LeftOut[0]))
	}
	if !r.DryRun && !r.Redo && len(r.Steps) > 0 {
		b.WriteString("adze undo redo takes this back\n")
	}
	_, err := to.Write(b.Bytes())
	return err
}

// forget deletes the stored states of paths for good.
func (b back) forget(c *cobra.Command, d recorder.Manager, paths []string) error {
	n, err := d.Forget(c.Context(), paths)
	if errors.Is(err, recorder.ErrInUse) {
		return usage.Mistake("end the other one, and try again", "%v", err)
	}
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	if cmd.Flagged(c, "json") {
		return b.WriteJSON(map[string]any{"forgotten": paths, "contents": n})
	}
	b.Show("%d contents are dropped; undo keeps nothing of %s from now on\n", n, strings.Join(paths, ", "))
	return nil
}

func (b back) list(c *cobra.Command, d recorder.Manager) error {
	past, err := d.History(c.Context())
	if err != nil {
		return err
	}
	if len(past.Turns) == 0 {
		fmt.Fprintln(b.Err, "this session has no turn yet")
	}
	table := b.Columns()
	for _, t := range past.Turns {
		line := turnLine{t.Number, t.Message, t.Asked, nil, t.Paths(), t.Undone, t.Pending}
		if !t.Time.IsZero() {
			at := t.Time.UTC()
			line.Time = &at
		}
		if cmd.Flagged(c, "json") {
			if err := b.WriteJSON(line); err != nil {
				return err
			}
			continue
		}
		state := ""
		switch {
		case t.Pending:
			state = "half undone"
		case t.Skipped:
			state = "undone in part"
		case t.Undone:
			state = "undone"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", t.Number, plural.Of(len(line.Paths), "file"), state, safeterm.Name(t.Asked))
	}
	return table.Flush()
}
