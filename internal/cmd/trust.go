package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/project/trust"
	"adze/internal/text/usage"
)

func (a *all) trustCommand() *cobra.Command {
	asJSON := func(c *cobra.Command) *cobra.Command {
		c.Flags().Bool("json", false, "as JSON, one object a line")
		return c
	}
	list := asJSON(&cobra.Command{Use: "list", Annotations: CallableByTools(), Short: "List what this project would run, and what of it you allowed", Args: RangeArgs(0, 0),
		Example: "  adze permission trust list\n  adze permission trust list --json | jq -r 'select(.state==\"waiting\").id'",
		RunE:    func(c *cobra.Command, _ []string) error { return a.listTrust(Flagged(c, "json")) }})
	show := asJSON(&cobra.Command{Use: "show NAME...", Annotations: CallableByTools(), Short: "Show exactly what would run, with which files", Args: RangeArgs(1, -1),
		Example: "  adze permission trust show tool:lint",
		RunE:    func(c *cobra.Command, words []string) error { return a.showTrust(words, Flagged(c, "json")) }})
	var hash string
	allow := asJSON(&cobra.Command{Use: "allow NAME...", Short: "Allow it as it is now; any change of it or its files asks again", Args: RangeArgs(1, -1),
		Example: "  adze permission trust allow tool:lint\n  adze permission trust allow tool:lint --hash 5f2c1a77   # only if it is still what you looked at",
		RunE: func(c *cobra.Command, words []string) error {
			return a.allowTrust(c.Context(), words, hash, Flagged(c, "json"))
		}})
	allow.Flags().StringVar(&hash, "hash", "", "allow it only if its `SHA256` begins so")
	revoke := asJSON(&cobra.Command{Use: "revoke NAME...", Short: "Take your consent back", Args: RangeArgs(0, -1),
		Example: "  adze permission trust revoke tool:lint\n  adze permission trust revoke --all",
		RunE: func(c *cobra.Command, words []string) error {
			return a.revokeTrust(c.Context(), words, Flagged(c, "all"), Flagged(c, "json"))
		}})
	revoke.Flags().Bool("all", false, "for all of this project")
	return Group("trust", "Choose what a project may run: its tools, hooks and servers", list, show, allow, revoke)
}

func (a *all) listTrust(asJSON bool) error {
	return a.Project(func(p trust.Project) error {
		items, err := p.Survey()
		a.doubt(err)
		if mode := p.Mode(); mode != "" && !asJSON {
			a.Show("%-8s %-24s %s\n", trust.Allowed, trust.ModeID, "the interface starts here in permission mode "+mode)
		}
		if len(items) == 0 && !asJSON {
			a.Show("this project carries nothing that would run\n")
		}
		for _, i := range items {
			if asJSON {
				a.ShowJSON(i)
				continue
			}
			what := i.Command()
			if i.Problem+i.Idle != "" {
				what = "(" + i.Problem + i.Idle + ")"
			}
			a.Show("%-8s %-24s %s\n", i.State, i.ID, oneRow(what))
		}
		return nil
	})
}

// oneRow cuts a list entry to one row; show prints the rest.
func oneRow(s string) string {
	const most = 100
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// doubt prints the consent file's problems.
func (a *all) doubt(err error) {
	if err != nil {
		fmt.Fprintf(a.Err, "adze: %s\n", a.Mask().Text(err.Error()))
	}
}

func (a *all) showTrust(names []string, asJSON bool) error {
	return a.Project(func(p trust.Project) error {
		items, err := p.Survey()
		a.doubt(err)
		for n, name := range names {
			i, err := carried(items, name)
			if err != nil {
				return err
			}
			if asJSON {
				a.ShowJSON(i)
				continue
			}
			if n > 0 {
				a.Show("\n")
			}
			a.Show("%s", consent(i))
		}
		return nil
	})
}

func carried(items []trust.Item, name string) (trust.Item, error) {
	if i, ok := trust.Named(items, name); ok {
		return i, nil
	}
	return trust.Item{}, usage.Mistake("adze permission trust list shows what there is", "this project has no %q", name)
}

// consent formats an item for the user's decision.
func consent(i trust.Item) string {
	text := fmt.Sprintf("%s: %s\n", i.ID, i.State)
	if i.Problem != "" {
		text += "  problem  " + i.Problem + "\n"
	}
	if i.State == trust.Unused {
		text += "  " + unused(i) + "\n"
	}
	for _, line := range i.Lines() {
		text += "  " + strings.ReplaceAll(line, "\n", "\n           ") + "\n"
	}
	return text
}

// unused explains why an item does not run, whether allowed or not.
func unused(i trust.Item) string {
	return "this version of adze does not run it: " + cmp.Or(i.Idle, "it runs nothing of this kind")
}

func (a *all) allowTrust(ctx context.Context, names []string, hash string, asJSON bool) error {
	return a.Project(func(p trust.Project) error {
		items, err := p.Survey()
		a.doubt(err)
		var chosen []trust.Item
		for _, name := range names {
			i, err := carried(items, name)
			switch {
			case err != nil:
				return err
			case i.Problem != "":
				return usage.Mistake("mend it first", "%s cannot be allowed: %s", i.ID, i.Problem)
			case i.State == trust.Unused:
				return usage.Mistake("there is nothing to allow", "%s: %s", i.ID, unused(i))
			case !strings.HasPrefix(i.Hash, strings.ToLower(hash)) || hash != "" && len(hash) < 8:
				return usage.Mistake("look at it with adze permission trust show "+i.ID, "%s has the sha256 %s now", i.ID, i.Hash)
			}
			chosen = append(chosen, i)
		}
		if err := p.Book.Allow(ctx, p.Dir, chosen...); err != nil {
			return fmt.Errorf("the consent could not be stored: %w", err)
		}
		for _, i := range chosen {
			i.State = trust.Allowed
			if asJSON {
				a.ShowJSON(i)
				continue
			}
			a.Show("%s", consent(i))
		}
		return nil
	})
}

func (a *all) revokeTrust(ctx context.Context, names []string, every, asJSON bool) error {
	if every == (len(names) > 0) {
		return usage.Mistake("adze permission trust revoke NAME, or --all", "say what to revoke")
	}
	return a.Project(func(p trust.Project) error {
		kept := p.ConsentedIDs()
		mode := p.Mode() != "" && (every || slices.Contains(names, trust.ModeID))
		if mode {
			if err := p.ChooseMode(ctx, ""); err != nil {
				return fmt.Errorf("the choice could not be taken back: %w", err)
			}
			names = slices.DeleteFunc(names, func(name string) bool { return name == trust.ModeID })
		}
		var ids []string
		for _, name := range names {
			var found []string
			for _, id := range kept { // including items no longer in the project
				if _, bare, _ := strings.Cut(id, ":"); id == name || bare == name {
					found = append(found, id)
				}
			}
			if len(found) != 1 {
				return usage.Mistake("adze permission trust list shows what is", "%q is not one thing that you allowed here", name)
			}
			ids = append(ids, found[0])
		}
		var gone []string
		if every || len(ids) > 0 {
			var err error
			if gone, err = p.Revoke(ctx, ids...); err != nil {
				return fmt.Errorf("the consent could not be taken back: %w", err)
			}
		}
		if mode {
			gone = append(gone, trust.ModeID)
		}
		if asJSON {
			a.ShowJSON(map[string][]string{"revoked": append([]string{}, gone...)})
			return nil
		}
		a.Show("revoked: %s\n", strings.Join(gone, ", "))
		return nil
	})
}
