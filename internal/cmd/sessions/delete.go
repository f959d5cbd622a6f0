package sessions

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

type deleteFlags struct{ yes, json, expired bool }

type remover struct{ past }

func deleteCommand(p past) *cobra.Command {
	var o deleteFlags
	c := &cobra.Command{Use: "delete ID…", Short: "Remove sessions permanently, with all that was kept of them", Args: cmd.RangeArgs(0, -1), ValidArgsFunction: p.moreIDs,
		Long: `Remove sessions permanently, and those of their subagents: their logs, their words in the search index, their whole outputs,
their prompts among those you wrote before, and changes of their staged turns that wait for you. The files are written anew, so that the words are gone from the disk, as far as
adze wrote them there. What is open is not removed, and that a session was there is remembered, but nothing of what was in it.`,
		Example: "  adze sessions delete 20261121t0245\n  adze sessions delete --yes 20261121t0245 20261120t1200\n  adze sessions delete --expired    # what sessions.keep of the configuration lets go",
		RunE:    func(c *cobra.Command, words []string) error { return remover{p}.deleteSessions(c.Context(), words, o) }}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.expired, "expired", false, "what sessions.keep of the configuration lets go")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line for each that was removed")
	return c
}

func (p remover) deleteSessions(ctx context.Context, words []string, o deleteFlags) error {
	if o.expired != (len(words) == 0) {
		return usage.Mistake("adze sessions list shows the ids", "name sessions, or --expired for those that sessions.keep lets go")
	}
	var done retention.Done
	err := p.Change(ctx, func(s *sessiondb.Store) (err error) {
		if o.expired {
			done, err = p.Tidy(ctx, s)
			return err
		}
		heads, err := p.chosen(ctx, s, words)
		if err != nil {
			return err
		}
		var ids []session.ID
		for _, h := range heads {
			ids = append(ids, h.ID)
		}
		family, err := s.Owner().Family(ctx, ids...)
		if err != nil {
			return err
		}
		if ok, err := p.agrees(heads, len(family)-len(ids), o); !ok {
			return err
		}
		done, err = p.Forgets(s).Sessions(ctx, ids...)
		return err
	})
	if told := p.tellDone(done, o.json); err == nil {
		err = told
	}
	return err
}

// chosen finds sessions by id prefixes, each once.
func (p remover) chosen(ctx context.Context, s *sessiondb.Store, words []string) (out []session.Head, err error) {
	for _, w := range words {
		h, err := p.one(ctx, s, w)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o session.Head) bool { return o.ID == h.ID }) {
			out = append(out, h)
		}
	}
	return out, nil
}

// agrees asks the user unless a flag already confirms. more is the number of subagent sessions.
func (p remover) agrees(heads []session.Head, more int, o deleteFlags) (bool, error) {
	if o.yes {
		return true, nil
	}
	if !term.IsTerminal(p.In.Fd()) {
		return false, usage.Mistake("add --yes", "removing sessions needs a yes, and nobody is there to ask")
	}
	for _, h := range heads {
		fmt.Fprintf(p.Err, "%s  %s  %s\n", safeterm.Name(string(h.ID)), safeterm.Name(p.Mask().Text(named(h))), plural.Of(h.Entries, "entry"))
	}
	if more > 0 {
		fmt.Fprintf(p.Err, "and %d of their subagents\n", more)
	}
	fmt.Fprint(p.Err, "remove for ever? [y/N] ")
	line, _ := bufio.NewReader(p.In).ReadString('\n') // end of input means no
	answer := strings.ToLower(strings.TrimSpace(line))
	if answer == "y" || answer == "yes" {
		return true, nil
	}
	fmt.Fprintln(p.Err, "nothing was removed")
	return false, nil
}

func (p remover) tellDone(done retention.Done, lines bool) error {
	for _, r := range done.Removed {
		if lines {
			if err := p.WriteJSON(r); err != nil {
				return err
			}
			continue
		}
		p.Show("removed %s (%s)\n", r.ID, plural.Of(r.Entries, "entry"))
	}
	for _, line := range done.Remains {
		fmt.Fprintf(p.Err, "! words of it may still be in %s\n", safeterm.Name(line))
	}
	return nil
}
