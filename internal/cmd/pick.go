package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/tool/rank"
)

type pickOptions struct {
	rank.Options
	debug, json, safe bool
}

const pickExamples = `  adze tools pick "where is this function called"
  adze tools pick "which process holds the port" --max 5 --debug`

func (a *all) pickCommand() *cobra.Command {
	o := &pickOptions{}
	cmd := &cobra.Command{
		Use: "pick QUERY", Annotations: CallableByTools(),
		Short:   "Show which tools a prompt would be offered, and why",
		Long:    "Show which tools a prompt would be offered, and why.\n\nNo tool is run.",
		Example: pickExamples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			return a.pick(c.Context(), o, strings.Join(words, " "))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.debug, "debug", false, "also show what was excluded, with each reason")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.IntVar(&o.MaxCandidates, "max", rank.DefaultMaxCandidates, "how many tools to choose")
	f.Float64Var(&o.MinScore, "min-score", rank.DefaultMinScore, "least score, from 0 to 1")
	f.IntVar(&o.Budget, "budget", 0, "bytes that the chosen tools may take in a request (0: any)")
	f.BoolVar(&o.safe, "safe", false, "only tools that are declared safe")
	pickGone(f, "scorer", "bm25", "words of the prompt choose the tools (bm25), and no server or model is asked; leave --scorer out")
	pickGone(f, "role", "", "no tool has roles; leave --role out")
	pickGone(f, "timeout", "", "nothing is waited for; leave --timeout out")
	pickGone(f, "from", "", "the tools are those of a run in this folder; leave --from out")
	pickGone(f, "eval", "", "go test -v -run PickRecall ./tool/rank in the sources of adze measures the choice")
	return cmd
}

// pickGone adds a hidden flag that was removed. It fails with its replacement, except for the value
// of today's behavior.
func pickGone(f *pflag.FlagSet, name, still, instead string) {
	f.Func(name, "", func(value string) error {
		if still != "" && value == still {
			return nil
		}
		return fmt.Errorf("it is gone: %s", instead)
	})
	_ = f.MarkHidden(name) // it exists
}

func (o *pickOptions) check(query string) error {
	if strings.TrimSpace(query) == "" {
		return usage.Mistake(`adze tools pick "send a mail"`, "a query is missing")
	}
	if o.MaxCandidates < 1 || o.MinScore < 0 || o.MinScore > 1 || o.Budget < 0 {
		return usage.Mistake("adze tools pick --help says what they mean", "--max is at least 1, --min-score from 0 to 1, --budget not negative")
	}
	o.Debug, o.AllowUnsafe = o.debug, !o.safe
	switch o.MinScore { // in rank.Options 0 means the default
	case 0:
		o.MinScore = -1
	case rank.DefaultMinScore:
		o.MinScore = 0
	}
	return nil
}

func (a *all) pick(ctx context.Context, o *pickOptions, query string) error {
	if err := o.check(query); err != nil {
		return err
	}
	defs, err := a.Offered(ctx)
	if err != nil {
		return err
	}
	return a.showPicks(o, query, rank.Tools(query, defs, o.Options))
}

type pickLine struct {
	Name     string  `json:"name"`
	Score    float64 `json:"score"`
	Reason   string  `json:"reason"`
	Excluded bool    `json:"excluded"`
	Rank     int     `json:"rank"`
	Bytes    int     `json:"bytes"`
	Digest   string  `json:"digest,omitempty"`
}

func (a *all) showPicks(o *pickOptions, query string, results []rank.Result) error {
	lines := []pickLine{}
	for _, r := range results {
		lines = append(lines, pickLine{
			r.Definition.Name, r.Score, r.Reason, r.Excluded, r.Rank, rank.OfferSize(r.Definition), r.Definition.Digest,
		})
	}
	if o.json {
		return a.WriteJSON(map[string]any{"query": query, "scorer": rank.Name, "candidates": lines})
	}
	if len(lines) == 0 || lines[0].Excluded {
		fmt.Fprintln(a.Stdout(), "no tool fits; --debug says why each was excluded")
	}
	table := a.Columns()
	for _, l := range lines {
		mark := " "
		if l.Excluded {
			mark = "-"
		}
		fmt.Fprintf(table, "%s %s\t%.3f\t%s\n", mark, safeterm.Name(l.Name), l.Score, safeterm.Name(l.Reason))
	}
	return table.Flush()
}
