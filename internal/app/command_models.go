package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/config"
)

// modelsCommand is adze models.
func (a *app) modelsCommand() *cobra.Command {
	c := &cobra.Command{Use: "models [FILTER] [--check] [--json]", Short: "List the models that can be used now, and what the others lack", Args: takes(0, 1),
		Long: `Shows which model a run would choose and why, each provider with its address and whether a key is set (never the key),
and what is known of its models. Only servers on this machine are asked (Ollama, llama.cpp, LM Studio, vLLM); --check asks every server that can be used.
With FILTER only models whose provider/name holds it are listed.`,
		Example: "  adze models\n  adze models qwen\n  adze models --check\n  adze models --json | jq .default",
		RunE: func(c *cobra.Command, words []string) error {
			return a.listModels(c.Context(), strings.Join(words, ""), flagged(c, "check"), flagged(c, "json"))
		}}
	c.Flags().Bool("check", false, "ask the servers, also those of companies")
	c.Flags().Bool("json", false, "as one JSON object")
	c.SetFlagErrorFunc(flagError)
	return c
}

func (a *app) listModels(ctx context.Context, filter string, check, asJSON bool) error {
	cfg, err := a.load(config.File(a.getenv, userPlaces(a.getenv).config))
	if err != nil {
		return err
	}
	l := a.listing(ctx, cfg, check).only(filter)
	if asJSON {
		a.showJSON(l)
		return nil
	}
	a.printListing(l)
	return nil
}

// only keeps the models whose provider/name holds the text, and the providers that have one or are named so.
func (l listing) only(text string) listing {
	text = strings.ToLower(text)
	kept := []listedProvider{} // a script reads a list, also an empty one
	for _, p := range l.Providers {
		p.Models = slices.DeleteFunc(p.Models, func(m listedModel) bool {
			return !strings.Contains(strings.ToLower(p.Provider+"/"+m.Model), text)
		})
		if len(p.Models) > 0 || strings.Contains(p.Provider, text) {
			kept = append(kept, p)
		}
	}
	l.Providers = kept
	return l
}

func (a *app) printListing(l listing) {
	switch {
	case l.Default != nil:
		a.show("default: %s (from %s)\n\n", l.Default.Model, l.Default.Origin)
	case l.Problem != "":
		a.show("default: none: %s\n\n", l.Problem)
	default:
		a.show("default: none; the ways to one:\n  %s\n\n", strings.ReplaceAll(waysToAModel(a.getenv), "\n", "\n  "))
	}
	for _, p := range l.Providers {
		state := "unknown"
		if p.Usable != nil {
			state = map[bool]string{true: "usable", false: "no"}[*p.Usable]
		}
		a.show("%-11s %-8s %s · %s\n", p.Provider, state, p.Why, p.Endpoint)
		for _, m := range p.Models {
			a.show("  %s\n", m)
		}
	}
}

// String is one line for a person: what is not known is not said.
func (m listedModel) String() string {
	out := []string{m.Model}
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(m.Size > 0, "%.1f GB", float64(m.Size)/1e9)
	add(m.Context > 0, "context %d", m.Context)
	add(m.Trained > 0 && m.Trained != m.Context, "up to %d", m.Trained)
	add(m.Output > 0, "output %d", m.Output)
	if m.Tools != nil {
		add(true, "%s", map[bool]string{true: "tools", false: "no tools"}[*m.Tools])
	}
	add(m.Vision != nil && *m.Vision, "vision")
	add(m.Documents != nil && *m.Documents, "documents")
	add(m.Thinking != nil && *m.Thinking, "thinking")
	add(m.Loaded && m.Running == 0, "loaded")
	add(m.Loaded && m.Running > 0, "loaded with %d", m.Running)
	if m.Input != nil && m.Answer != nil {
		add(true, "$%s in, $%s out a million", amount(*m.Input), amount(*m.Answer))
	}
	return strings.Join(out, " · ")
}

func amount(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
