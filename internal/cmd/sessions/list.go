package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
	"adze/session"
)

// Activity is a session's current state.
type Activity struct {
	State string // needs you, working, to review, or done
	What  string // its running call or question; "" if unknown
	Live  bool   // a process owns it
}

// List returns adze sessions list. doing returns the sessions' current activities.
func List(e *cmd.Env, program Program, doing func(context.Context, []session.Head) []Activity) *cobra.Command {
	p := past{e, program}
	w := &selection{}
	var tags []string
	c := &cobra.Command{Use: "list", Annotations: cmd.CallableByTools(), Short: "List stored sessions, the last used first", Args: cmd.RangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  adze sessions list\n  adze sessions list --all --since 2w --tag keep\n  adze sessions list --json | jq -r .id",
		RunE:    func(c *cobra.Command, _ []string) error { return p.listSessions(c, w, tags, doing) }}
	w.add(c, 50)
	c.Flags().StringArrayVar(&tags, "tag", nil, "that are marked with this `TAG`; several: with all of them")
	return c
}

// sessionLine is a session in --json.
type sessionLine struct {
	ID       session.ID `json:"id"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated"`
	Entries  int        `json:"entries"`
	Model    string     `json:"model"` // provider/name
	Cwd      string     `json:"cwd"`
	Title    string     `json:"title"`
	Tags     []string   `json:"tags,omitempty"`
	Agent    string     `json:"agent,omitempty"`         // a subagent's
	Parent   session.ID `json:"parent,omitempty"`        // a subagent's caller, or a copy's original
	Origin   session.ID `json:"imported_from,omitempty"` // original session
	State    string     `json:"state,omitempty"`         // needs you, working, to review, or done
	Activity string     `json:"doing,omitempty"`         // its running call or question
	Live     bool       `json:"live,omitempty"`          // a process owns it
}

func lineOf(h session.Head) sessionLine {
	info := h.Info()
	line := sessionLine{h.ID, h.Created.UTC(), h.Updated.UTC(), h.Entries, info.Model, info.Cwd, h.Title(), h.Tags, info.Agent, info.Parent, "", "", "", false}
	if info.Imported != nil {
		line.Origin = info.Imported.Session
	}
	return line
}

func (p past) listSessions(c *cobra.Command, w *selection, tags []string, doing func(context.Context, []session.Head) []Activity) error {
	if w.json && !c.Flags().Changed("limit") {
		w.limit = 0 // a script gets all
	}
	where, err := w.settle(p)
	if err != nil {
		return err
	}
	f := sessiondb.Filter{Folder: where.folder, All: w.all, Tags: tags, Since: where.since, Skip: where.skip, Limit: w.limit}
	heads, total, err := p.Page(c.Context(), f)
	if err != nil {
		return err
	}
	table, now := p.Columns(), doing(c.Context(), heads)
	for i, h := range heads {
		if w.json {
			line := lineOf(h)
			line.State, line.Activity, line.Live = now[i].State, now[i].What, now[i].Live
			if err := p.WriteJSON(line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", safeterm.Name(string(h.ID)), h.Updated.Local().Format("2006-01-02 15:04"),
			safeterm.Name(h.Info().Model), safeterm.Name(named(h)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case total > 0:
		p.tellMore(w, where.skip+len(heads), total)
	case len(tags) > 0 || w.since != "":
		fmt.Fprintln(p.Err, "no session is like that")
	case where.folder != "":
		fmt.Fprintf(p.Err, "no session of %s is stored; --all lists those of all folders\n", safeterm.Name(where.folder))
	default:
		fmt.Fprintln(p.Err, "no session is stored")
	}
	return nil
}

func named(h session.Head) string {
	title := h.Title()
	switch info := h.Info(); {
	case len(h.Start) == 0:
		title = "(it cannot be read: adze audit verify " + string(h.ID) + ")"
	case info.Agent != "":
		title = info.Agent + " (subagent of " + string(info.Parent) + ")"
	case info.Imported != nil:
		title += " (imported)"
	}
	if len(h.Tags) > 0 {
		title += "  [" + strings.Join(h.Tags, " ") + "]"
	}
	return title
}
