package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/llm/models"
)

func (a *all) modelsCommand() *cobra.Command {
	c := &cobra.Command{Use: "models [FILTER] [--check] [--json]", Annotations: CallableByTools(), Short: "List the models that work now, and what others need", Args: RangeArgs(0, 1),
		Long: `Shows which model a run would choose and why, each provider with its address and whether a key is set (never the key),
and what is known of its models. Servers of this machine and those whose address you gave are asked; --check asks companies, too.
With FILTER only models whose provider/name holds it are listed.`,
		Example: "  adze models\n  adze models qwen\n  adze models --check\n  adze models --json | jq .default",
		RunE: func(c *cobra.Command, words []string) error {
			return a.listModels(c.Context(), strings.Join(words, ""), Flagged(c, "check"), Flagged(c, "json"))
		}}
	c.Flags().Bool("check", false, "ask the servers, also those of companies")
	c.Flags().Bool("json", false, "print one JSON object")
	c.SetFlagErrorFunc(FlagError)
	return c
}

func (a *all) listModels(ctx context.Context, filter string, check, asJSON bool) error {
	_, find, err := a.Config()
	if err != nil {
		return err
	}
	l := find.List(ctx, check).Only(filter)
	if asJSON {
		a.ShowJSON(l)
		return nil
	}
	a.printListing(l, find.SetupHelp())
	return nil
}

func (a *all) printListing(l models.Listing, ways string) {
	switch {
	case l.Default != nil:
		a.Show("default: %s (from %s)\n", l.Default.Model, l.Default.Origin)
		if l.Problem != "" {
			a.Show("! %s\n", l.Problem)
		}
		a.Show("\n")
	case l.Problem != "":
		a.Show("default: none: %s\n\n", l.Problem)
	default:
		a.Show("default: none; the ways to one:\n  %s\n\n", strings.ReplaceAll(ways, "\n", "\n  "))
	}
	for _, p := range l.Providers {
		state := "unknown"
		if p.Usable != nil {
			state = map[bool]string{true: "usable", false: "no"}[*p.Usable]
		}
		a.Show("%-11s %-8s %s\n", p.Provider, state, strings.Join(notEmpty(p.Reason, p.Endpoint), " · "))
		for _, m := range p.Models {
			a.Show("  %s\n", m)
		}
	}
}
