package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/llm/toolselect"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/tool"
	"adze/tool/rank"
	"adze/tool/rankset"
)

// pickOptions are the flags of adze tools pick.
type pickOptions struct {
	rank.Options
	debug, json, safe bool
	scorer            string
	from, eval        string
}

const pickExamples = `  adze tools pick "where is this function called"
  adze tools pick "send the report to the team" --from testdata/pick --debug
  adze tools pick --eval testdata/pick`

func (a *all) pickCommand() *cobra.Command {
	o := &pickOptions{}
	cmd := &cobra.Command{
		Use: "pick QUERY", Annotations: Anyone(),
		Short:   "Show which tools a prompt would be offered, and why",
		Long:    "Show which tools a prompt would be offered, and why. No tool is run.",
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
	f.StringArrayVar(&o.Roles, "role", nil, "leave out tools that are for other roles")
	f.BoolVar(&o.safe, "safe", false, "only tools that are declared safe")
	f.DurationVar(&o.Timeout, "timeout", toolselect.Patience, "time that the scorer may take")
	f.StringVar(&o.scorer, "scorer", "", toolselect.ScorerNames+" (default: that of the configuration, else bm25)")
	f.StringVar(&o.from, "from", "", "choose from tools.jsonl in this `DIR`, not from adze's own tools")
	f.StringVar(&o.eval, "eval", "", "measure the scorers on tools.jsonl and queries.jsonl in this `DIR`")
	return cmd
}

func (o *pickOptions) check(query string) error {
	if (strings.TrimSpace(query) == "") == (o.eval == "") {
		return usage.Mistake(`adze tools pick "send a mail", or adze tools pick --eval DIR`, "want either a query or --eval")
	}
	if o.MaxCandidates < 1 || o.MinScore < 0 || o.MinScore > 1 || o.Budget < 0 || o.Timeout < 0 {
		return usage.Mistake("adze tools pick --help says what they mean", "--max is at least 1, --min-score from 0 to 1, --budget and --timeout not negative")
	}
	o.Debug, o.AllowUnsafe = o.debug, !o.safe
	switch o.MinScore { // in rank.Options 0 is the default
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
	return a.Offer(func(offer Offer) (err error) {
		if o.eval != "" {
			return a.evaluate(ctx, o, offer)
		}
		if o.Scorer, err = offer.Scorer(cmp.Or(o.scorer, offer.Config.Scorer)); err != nil {
			return err
		}
		defs, err := o.choice(ctx, offer)
		if err != nil {
			return err
		}
		return a.showPicks(o, query, rank.Tools(ctx, query, defs, o.Options))
	})
}

// choice is what to pick from.
func (o *pickOptions) choice(ctx context.Context, offer Offer) ([]tool.Definition, error) {
	if o.from != "" {
		set, err := rankset.Read(os.DirFS(o.from))
		return set.Tools, brokenSet(o.from, err)
	}
	return offer.Tools(ctx)
}

func brokenSet(dir string, err error) error {
	if err == nil {
		return nil
	}
	return usage.Mistake("name a folder with tools.jsonl and queries.jsonl, such as testdata/pick", "%s: %v", dir, err)
}

// pickLine is one candidate in JSON, without its schema.
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
	fallback := ""
	lines := []pickLine{}
	for _, r := range results {
		fallback = r.Provenance.Fallback
		lines = append(lines, pickLine{
			r.Definition.Name, r.Score, r.Reason, r.Excluded, r.Provenance.Rank, rank.OfferSize(r.Definition), r.Definition.Digest,
		})
	}
	if o.json {
		return a.WriteJSON(map[string]any{"query": query, "scorer": o.Scorer.Name(), "fallback": fallback, "candidates": lines})
	}
	if fallback != "" {
		fmt.Fprintln(a.Stdout(), safeterm.Name(fallback))
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

// evaluate measures on both halves, the one that scorers are tuned on and the one that judges, and
// on the queries by another hand.
func (a *all) evaluate(ctx context.Context, o *pickOptions, offer Offer) error {
	set, err := rankset.Read(os.DirFS(o.eval))
	if err != nil {
		return brokenSet(o.eval, err)
	}
	scorers := []rank.Scorer{rank.Keyword{}, rank.BM25{Plain: true}, rank.BM25{}}
	if o.scorer != "" {
		one, err := offer.Scorer(o.scorer)
		if err != nil {
			return err
		}
		scorers = []rank.Scorer{one}
	} else if offer.Config.Embeddings.BaseURL != "" {
		for _, name := range []string{"embedding", "hybrid"} {
			one, err := offer.Scorer(name)
			if err != nil {
				return err
			}
			scorers = append(scorers, one)
		}
	}
	var all []rankset.Recall
	for _, half := range []rankset.Half{rankset.Dev, rankset.Test, rankset.Issues} {
		for _, scorer := range scorers {
			all = append(all, set.Measure(ctx, scorer, half))
		}
	}
	return a.showRecall(o, set, all)
}

func (a *all) showRecall(o *pickOptions, set rankset.Set, all []rankset.Recall) error {
	if o.json {
		return a.WriteJSON(map[string]any{"tools": len(set.Tools), "queries": len(set.Queries), "depths": rankset.Depths(), "recall": all})
	}
	fmt.Fprintf(a.Stdout(), "%d tools, %d queries; part of the queries with a right tool among the first k\n", len(set.Tools), len(set.Queries))
	table := a.Columns()
	fmt.Fprint(table, "half\tqueries\tscorer")
	for _, k := range rankset.Depths() {
		fmt.Fprintf(table, "\t@%d", k)
	}
	fmt.Fprintln(table, "\tfailed")
	for _, r := range all {
		fmt.Fprintf(table, "%s\t%d\t%s", r.Half, r.Queries, safeterm.Name(r.Scorer))
		for _, part := range r.At {
			fmt.Fprintf(table, "\t%.3f", part)
		}
		fmt.Fprintf(table, "\t%d\n", r.Failed)
	}
	return table.Flush()
}
