package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/text/usage"
	"adze/tool/fuzzy"
)

func (a permissions) list() *cobra.Command {
	var flags policyconfig.Flags
	c := &cobra.Command{Use: "list", Annotations: CallableByTools(), Short: "Show the rules in force, and where each comes from", Args: RangeArgs(0, 0),
		Long: `A deny of any layer holds; then an ask; then an allow; where no rule speaks, the permission mode decides. A project and the
owner of the machine may only deny and ask.`,
		Example: "  adze permission list\n  adze permission list --json | jq -r 'select(.effect == \"allow\").rule'",
		RunE:    func(c *cobra.Command, _ []string) error { return a.listRules(flags, Flagged(c, "json")) }}
	flags.Add(c)
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

// ruleLine is a --json line.
type ruleLine struct {
	Effect policy.Effect `json:"effect"`
	Rule   string        `json:"rule"` // in the syntax of --allow, --ask and --deny
	Layer  policy.Layer  `json:"layer"`
}

func (a permissions) listRules(flags policyconfig.Flags, asJSON bool) error {
	return a.Gate(flags, func(p *policy.Policy) error {
		if !asJSON {
			a.Show("mode %s\n", p.Mode())
		}
		for _, r := range p.Rules() {
			line := ruleLine{r.Effect, strings.TrimPrefix(r.String(), string(r.Effect)+" "), r.Layer}
			if asJSON {
				a.ShowJSON(line)
				continue
			}
			a.Show("%-5s %s  (%s)\n", line.Effect, line.Rule, line.Layer)
		}
		return nil
	})
}

func (a permissions) add() *cobra.Command {
	return &cobra.Command{Use: "add EFFECT RULE...", Short: "Add rules to your configuration; comments stay", Args: RangeArgs(1, 100),
		Long:    "EFFECT is allow, ask or deny. What is there already is not added again.",
		Example: "  adze permission add allow 'execute(go test **)'\n  adze permission add deny 'read(**/.env)' 'write(work:vendor/**)'",
		RunE:    func(_ *cobra.Command, words []string) error { return a.addRules(words) }}
}

func (a permissions) addRules(words []string) error {
	effect, rules, err := rulesIn(words)
	if err != nil {
		return err
	}
	added, err := config.AddRules(a.ConfigFile(), string(effect), rules...)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if slices.Contains(added, r) {
			a.Show("added: %s %s\n", effect, r)
			if parsed, err := policy.ParseRule(effect, policy.User, r); err == nil && effect == policy.Allow {
				a.Show("%s", describe(parsed))
			}
		} else {
			a.Show("there already: %s %s\n", effect, r)
		}
	}
	return nil
}

// describe explains a new rule's effect.
func describe(r policy.Rule) string {
	d := r.Describe()
	text := "  covers: " + d.Covers
	if d.Saved != "" {
		text += " (" + d.Saved + ")"
	}
	return text + "\n  not: " + d.StillAsked + "\n"
}

func (a permissions) remove() *cobra.Command {
	return &cobra.Command{Use: "remove EFFECT RULE...", Short: "Remove rules from your configuration", Args: RangeArgs(1, 100),
		Long:    "Rules are named as adze permission list shows them. Those of a project or of the machine's owner are theirs to remove.",
		Example: "  adze permission remove allow 'execute(go test **)'",
		RunE:    func(_ *cobra.Command, words []string) error { return a.removeRules(words) }}
}

func (a permissions) removeRules(words []string) error {
	effect, rules, err := rulesIn(words)
	if err != nil {
		return err
	}
	removed, err := config.RemoveRules(a.ConfigFile(), string(effect), rules...)
	if err != nil {
		return err
	}
	for _, r := range removed {
		a.Show("removed: %s %s\n", effect, r)
	}
	for _, r := range rules {
		if !slices.Contains(removed, r) {
			return a.notThere(effect, r)
		}
	}
	return nil
}

// notThere returns an error for a rule that the user does not have, with the nearest one.
func (a permissions) notThere(effect policy.Effect, rule string) error {
	cfg, _, err := a.Config()
	if err != nil {
		return err
	}
	have := map[policy.Effect][]string{policy.Allow: cfg.Allow, policy.Ask: cfg.Ask, policy.Deny: cfg.Deny}
	for other, rules := range have {
		if other != effect && slices.Contains(rules, rule) {
			return usage.Mistake(fmt.Sprintf("adze permission remove %s '%s'", other, rule), "%s is not a %s rule: it says %s", rule, effect, other)
		}
	}
	hint := "adze permission list shows all rules"
	if near := fuzzy.Names(rule, have[effect], 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean '%s'?", near[0])
	}
	return usage.Mistake(hint, "%s holds no rule %s %s", a.ConfigFile(), effect, rule)
}

// rulesIn parses EFFECT RULE..., also in the printed form 'allow execute(make)'. It validates the
// rules so that the next start can read them.
func rulesIn(words []string) (policy.Effect, []string, error) {
	first, rest, _ := strings.Cut(words[0], " ")
	rules := words[1:]
	if rest != "" {
		rules = append([]string{rest}, rules...)
	}
	effect := policy.Effect(first)
	if !slices.Contains([]policy.Effect{policy.Allow, policy.Ask, policy.Deny}, effect) {
		return "", nil, usage.Mistake("such as: adze permission add allow 'execute(go test **)'", "%q is none of allow, ask and deny", first)
	}
	if len(rules) == 0 {
		return "", nil, usage.Mistake("such as execute(go test **), read(home:notes/**), write(work:src/**), network(go.dev)", "the rule is missing")
	}
	for i, text := range rules {
		r, err := policy.ParseRule(effect, policy.User, text)
		if err != nil {
			return "", nil, usage.Mistake("such as execute(go test **), read(home:notes/**), write(work:src/**), network(go.dev)", "%v", err)
		}
		rules[i] = strings.TrimPrefix(r.String(), string(effect)+" ")
	}
	return effect, rules, nil
}
