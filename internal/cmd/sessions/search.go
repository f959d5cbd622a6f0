package sessions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/fulltext"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

func (p past) search() *cobra.Command {
	w := &selection{}
	c := &cobra.Command{Use: "search WORDS…", Annotations: cmd.CallableByTools(), Short: "Find what was said and done in stored sessions", Args: cmd.RangeArgs(1, -1), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Find what was said and done in stored sessions.

Prompts, answers, calls and their results are searched. All words have to be there, the last one may be the beginning of one; "words in quotes" stand side by side. The newest
session comes first. The first search reads all sessions into an index, later ones what came since.`,
		Example: "  adze sessions search retry backoff\n  adze sessions search '\"connection refused\"' --all --since 2w\n  adze sessions search TestParse --json | jq -r .session",
		RunE:    func(c *cobra.Command, words []string) error { return p.searchSessions(c, w, strings.Join(words, " ")) }}
	w.add(c, 20)
	return c
}

func (p past) searchSessions(c *cobra.Command, w *selection, text string) error {
	where, err := w.settle(p)
	if err != nil {
		return err
	}
	q := fulltext.Query{Text: text, Folder: where.folder, Since: where.since, Skip: where.skip, Limit: w.limit}
	if w.limit == 0 {
		q.Limit = math.MaxInt32
	}
	var hits []fulltext.Hit
	var more bool
	err = p.Change(c.Context(), func(s *sessiondb.Store) error {
		if err = p.index(c.Context(), s); err == nil {
			hits, more, err = fulltext.Search(c.Context(), s, q)
		}
		return err
	})
	if errors.Is(err, fulltext.ErrNoWords) {
		return usage.Mistake("adze sessions search retry backoff", "%v", err)
	}
	if err != nil {
		return err
	}
	if err := p.showHits(hits, w.json); err != nil {
		return err
	}
	if more {
		p.tellMore(w, len(hits), -1)
	}
	if len(hits) == 0 && where.folder != "" {
		fmt.Fprintf(p.Err, "nothing found in the sessions of %s; --all looks into those of all folders\n", safeterm.Name(where.folder))
	} else if len(hits) == 0 {
		fmt.Fprintln(p.Err, "nothing found")
	}
	return nil
}

// longUpdate is the number of new entries at which an index update is announced: about a second's
// work.
const longUpdate = 5000

func (p past) index(ctx context.Context, s *sessiondb.Store) error {
	told := false
	return fulltext.Update(ctx, s, func(_, total int64) error {
		if !told && total > longUpdate {
			fmt.Fprintf(p.Err, "reading %d entries into the search index, this once …\n", total)
			told = true
		}
		return nil
	})
}

func (p past) showHits(hits []fulltext.Hit, lines bool) error {
	last := session.ID("")
	for _, h := range hits {
		if lines {
			if err := p.WriteJSON(h); err != nil {
				return err
			}
			continue
		}
		if h.Session != last {
			title := h.Title
			if h.Agent != "" {
				title = h.Agent + " (subagent): " + title
			}
			fmt.Fprintf(p.Stdout(), "%s  %s  %s\n", safeterm.Name(string(h.Session)), h.Time.Local().Format("2006-01-02 15:04"), safeterm.Name(title))
			last = h.Session
		}
		what := string(h.Kind)
		if h.Kind == fulltext.Called {
			what = h.Tool
		}
		fmt.Fprintf(p.Out, "  %s  %s\n", safeterm.Name(p.Mask().Text(what)), p.emphasized(h.Snippet))
	}
	return nil
}

// emphasized returns a snippet with its matches in bold, on a terminal.
func (p past) emphasized(s fulltext.Snippet) string {
	whole := s.String()
	masked := p.Mask().Text(whole)
	if masked != whole || !term.IsTerminal(p.Out.Fd()) || p.Getenv("NO_COLOR") != "" {
		return safeterm.Name(masked).String()
	}
	var b strings.Builder
	for _, piece := range s {
		text := safeterm.Name(piece.Text).String()
		if piece.Hit {
			text = "\x1b[1m" + text + "\x1b[22m"
		}
		b.WriteString(text)
	}
	return b.String()
}
