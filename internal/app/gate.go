package app

import (
	"os"
	"strings"

	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/workspace"
)

// outputLayer is where the rule comes from that lets a model read the whole of its own cut outputs.
const outputLayer policy.Layer = "session output"

// newGate makes the policy of a run from the configuration and the flags. spill is the folder of this
// session's whole outputs, which lies outside the workspace.
func newGate(cfg config.Config, o *options, root *workspace.Root, spill string, asker policy.Asker) (*policy.Policy, error) {
	mode := policy.AskFirst
	if name := firstOf(o.mode, cfg.PermissionMode); name != "" {
		var err error
		if mode, err = policy.ParseMode(name); err != nil {
			return nil, misuse("the modes are "+strings.Join(policy.Modes(), ", "), "%v", err)
		}
	}
	rules, err := gateRules(cfg, o, spill)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one, home: matches nothing
	return policy.New(policy.Options{Mode: mode, Rules: rules, Paths: judge{root}, Home: home, Ask: asker})
}

func gateRules(cfg config.Config, o *options, spill string) ([]policy.Rule, error) {
	var rules []policy.Rule
	for _, source := range []struct {
		effect policy.Effect
		layer  policy.Layer
		flag   string
		texts  []string
	}{
		{policy.Deny, policy.CommandLine, "--deny", o.deny},
		{policy.Allow, policy.CommandLine, "--allow", o.allow},
		{policy.Deny, policy.User, "deny in " + cfg.Origin("deny"), cfg.Deny},
		{policy.Allow, policy.User, "allow in " + cfg.Origin("allow"), cfg.Allow},
		{policy.Allow, outputLayer, "session output", []string{"read(abs:" + literalGlob(spill) + "/**)"}},
	} {
		for _, text := range source.texts {
			r, err := policy.ParseRule(source.effect, source.layer, text)
			if err != nil {
				return nil, misuse("such as read(home:notes/**), write(work:src/**), execute(go test **), network(https://go.dev)", "%s: %v", source.flag, err)
			}
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// literalGlob quotes what has a meaning in a path pattern.
func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(path)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// judge resolves paths for the policy exactly as the tools will.
type judge struct{ root *workspace.Root }

func (j judge) Judge(name string) (policy.Place, error) {
	p, err := j.root.Resolve(name)
	if err != nil {
		return policy.Place{}, err
	}
	return policy.Place{Abs: p.Abs(), Rel: p.Display(), Outside: p.Outside(), Protected: p.Protected()}, nil
}
