package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/llm/models"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/tool"
)

func (a *all) toolsCommand() *cobra.Command {
	list := &cobra.Command{Use: "list [--json]", Annotations: CallableByTools(), Short: "List the tools, with what they may touch", Args: RangeArgs(0, 0),
		Example: "  adze tools list\n  adze tools list --json | jq -r '.[].name'",
		RunE:    func(c *cobra.Command, _ []string) error { return a.listTools(c.Context(), Flagged(c, "json")) }}
	list.Flags().Bool("json", false, "all definitions, as one JSON array")
	show := &cobra.Command{Use: "show NAME [--json]", Annotations: CallableByTools(), Short: "Show all about one tool", Args: RangeArgs(1, 1),
		Example: "  adze tools show edit\n  adze tools show edit --json | jq .parameters",
		RunE: func(c *cobra.Command, words []string) error {
			return a.showTool(c.Context(), words[0], Flagged(c, "json"))
		}}
	show.Flags().Bool("json", false, "the definition, as JSON")
	var provider string
	formats := models.Formats()
	schema := &cobra.Command{Use: "schema [NAME...] [--provider P]", Annotations: CallableByTools(), Short: "Print the JSON Schema of a tool's arguments, or the tools as a provider is sent them",
		Args:    RangeArgs(0, -1),
		Example: "  adze tools schema read\n  adze tools schema read edit --provider " + formats[0] + "\n  adze tools schema --provider " + formats[0] + " | jq length",
		RunE:    func(c *cobra.Command, words []string) error { return a.printSchema(c.Context(), words, provider) }}
	schema.Flags().StringVar(&provider, "provider", "", strings.Join(formats, ", ")+", or another provider")
	return Group("tools", "List tools, check a call, run one by hand", list, show, schema, a.toolsTest(), a.toolsRun())
}

// named finds definitions by name; no names mean all.
func named(set *tool.Set, names []string) ([]tool.Definition, error) {
	if len(names) == 0 {
		return set.Definitions(), nil
	}
	var out []tool.Definition
	for _, name := range names {
		d, ok := set.Get(name)
		if !ok {
			return nil, noTool(set, name)
		}
		out = append(out, d)
	}
	return out, nil
}

// noTool returns an error for an unknown tool. It knows other names that models use.
func noTool(set *tool.Set, name string) error {
	hint := "the tools are: " + strings.Join(slices.Sorted(slices.Values(set.Names())), ", ")
	if near := tool.Nearest(name, set.Names(), 1); len(near) == 1 {
		hint = "did you mean " + near[0] + "?"
	}
	for _, d := range set.Definitions() {
		if slices.Contains(d.Aliases, name) {
			hint = fmt.Sprintf("models that say %s get %s; name that", name, d.Name)
		}
	}
	return usage.Mistake(hint, "there is no tool %q", name)
}

func (a *all) listTools(ctx context.Context, asJSON bool) error {
	return a.Tools(ctx, func(set *tool.Set) error {
		if asJSON {
			a.ShowJSON(set.Definitions())
			return nil
		}
		table := a.Columns()
		for _, d := range set.Definitions() {
			fmt.Fprintf(table, "%s\t%s\t%s\n", safeterm.Name(d.Name), permissionsOf(d), safeterm.Name(firstSentence(d.Description)))
		}
		return table.Flush()
	})
}

func permissionsOf(d tool.Definition) string {
	var words []string
	for _, p := range d.Permissions.Required {
		words = append(words, string(p))
	}
	for _, p := range d.Permissions.Optional {
		words = append(words, "("+string(p)+")")
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

func firstSentence(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if sentence, _, more := strings.Cut(line, ". "); more {
		return sentence + "."
	}
	return line
}

func (a *all) showTool(ctx context.Context, name string, asJSON bool) error {
	return a.Tools(ctx, func(set *tool.Set) error {
		found, err := named(set, []string{name})
		if err != nil {
			return err
		}
		d := found[0]
		if asJSON {
			a.ShowJSON(d)
			return nil
		}
		a.Show("%s\n\n%s\n\n", d.Name, strings.TrimSpace(d.Description))
		for _, line := range [][2]string{
			{"permissions", permissionsOf(d)}, {"threat level", d.Safety.ThreatLevel}, {"also known as", strings.Join(d.Aliases, ", ")},
			{"tags", strings.Join(d.Tags, ", ")}, {"roles", strings.Join(d.Roles, ", ")}, {"cost", d.CostClass}, {"digest", d.Digest},
		} {
			if line[1] != "" {
				a.Show("%-14s %s\n", line[0], line[1])
			}
		}
		return a.pretty("\narguments:\n", d.Parameters)
	})
}

func (a *all) printSchema(ctx context.Context, names []string, provider string) error {
	format, known := models.FormatOf(provider)
	if !known && provider != "" {
		formats := models.Formats()
		hint := "the formats are: " + strings.Join(formats, ", ")
		if near := tool.Nearest(provider, formats, 1); len(near) == 1 {
			hint = "did you mean " + near[0] + "?"
		}
		return usage.Mistake(hint, "adze does not speak the format %q", provider)
	}
	if !known && len(names) != 1 {
		return usage.Mistake("adze tools schema read, or add --provider to see many", "without --provider, name one tool")
	}
	return a.Tools(ctx, func(set *tool.Set) error {
		found, err := named(set, names)
		if err != nil {
			return err
		}
		if !known {
			return a.pretty("", found[0].Parameters)
		}
		return a.pretty("", format.Tools(found))
	})
}
