package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/print"
	"adze/internal/safeterm"
	"adze/internal/store"
	"adze/session"
	"adze/tool"
)

// group is a command that only holds others. A word that is none of them is a mistake, with the nearest one.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	c.RunE = func(c *cobra.Command, words []string) error {
		if len(words) == 0 {
			return c.Help()
		}
		var names []string
		for _, sub := range commands {
			names = append(names, sub.Name())
		}
		hint := "the commands are: " + strings.Join(names, ", ")
		if near := tool.Nearest(words[0], names, 1); len(near) == 1 {
			hint = fmt.Sprintf("did you mean adze %s %s?", use, near[0])
		}
		return misuse(hint, "adze %s has no command %q", use, words[0])
	}
	c.SetFlagErrorFunc(flagError)
	for _, sub := range commands {
		sub.SetFlagErrorFunc(flagError)
	}
	c.AddCommand(commands...)
	return c
}

// takes checks how many words follow a command; most < 0: any number.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) < least || most >= 0 && len(words) > most {
			return misuse(c.CommandPath()+" --help shows examples", "write it as %s", c.UseLine())
		}
		return nil
	}
}

// gateFlags say where to work and what is allowed, for a run and for commands that decide as a run does.
func gateFlags(c *cobra.Command, o *options) {
	f := c.Flags()
	f.StringVar(&o.cwd, "cwd", "", "work in this `DIR`")
	f.StringVar(&o.mode, "permission-mode", "", "ask, edits, plan, auto or yolo (default ask)")
	f.StringArrayVar(&o.allow, "allow", nil, "allow what this `RULE` matches, such as 'execute(go test **)'")
	f.StringArrayVar(&o.deny, "deny", nil, "deny what this `RULE` matches; a deny always holds")
}

// conclude ends a command whose answer is its exit code; what it found is said already.
func (a *app) conclude(cause session.Cause, message, hint string) {
	a.exit = print.ExitCode(cause)
	if message != "" {
		print.Complain(print.Masked{To: a.err, By: a.mask()}, message, hint)
	}
}

// show writes lines of our own, into which foreign text was put; controls in it are written out.
func (a *app) show(format string, args ...any) {
	fmt.Fprint(a.out, a.mask().Text(safeterm.Reveal(fmt.Sprintf(format, args...)).String()))
}

// showJSON writes one line for a script.
func (a *app) showJSON(v any) { fmt.Fprintf(a.out, "%s\n", a.mask().JSON([]byte(print.Line(v)))) }

// storedSession finds the session that a command is about: by the beginning of its id, else the newest one
// of this folder.
func (a *app) storedSession(ctx context.Context, s *store.Store, words []string) (session.ID, error) {
	heads, err := s.List(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errStoreOpen, err)
	}
	if len(words) > 0 {
		return byPrefix(heads, words[0])
	}
	dir, err := a.here()
	if err != nil {
		return "", err
	}
	for _, h := range heads {
		if info := h.Info(); info.Cwd == dir && info.Agent == "" {
			return h.ID, nil
		}
	}
	return "", misuse("name one: adze session list --all shows them", "no session of %s is stored", dir)
}

// readable marks an error of reading the store, so that its exit code says so.
func readable(err error) error {
	var bad *store.BadRow
	switch {
	case err == nil || errors.Is(err, session.ErrNotFound):
		return err
	case errors.As(err, &bad):
		return &damagedError{bad}
	}
	return fmt.Errorf("%w: %w", errStoreOpen, err)
}

// here is this folder as sessions remember it.
func (a *app) here() (string, error) {
	dir, err := a.folder(&options{}, nil)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir, nil
}

// indented is JSON for a person to read, without control characters.
func indented(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", err
	}
	return safeterm.Reveal(b.String()).String(), nil
}
