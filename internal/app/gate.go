package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/command"
	"adze/internal/config"
	"adze/internal/place"
	"adze/internal/policy"
	"adze/internal/proc"
	"adze/internal/workspace"
)

// outputLayer is where the rule comes from that lets a model read the whole of its own cut outputs.
const outputLayer policy.Layer = "session output"

// ground is what the rules of a run are about: the workspace, and where adze keeps its own.
type ground struct {
	root  *workspace.Root
	at    place.Places
	file  string // the person's configuration
	spill string // this session's whole outputs, which a model may read; empty: none
}

func (s settings) ground(spill string) ground {
	return ground{root: s.root, at: s.at, file: place.Absolute(s.file), spill: spill}
}

// newGate makes the policy of a run from the configuration and the flags.
func newGate(cfg config.Config, flags command.Gate, g ground, asker policy.Asker) (*policy.Policy, error) {
	mode := policy.AskFirst
	if name := firstOf(flags.Mode, cfg.PermissionMode); name != "" {
		var err error
		if mode, err = policy.ParseMode(name); err != nil {
			return nil, misuse("the modes are "+strings.Join(policy.Modes(), ", "), "%v", err)
		}
	}
	rules, err := gateRules(cfg, flags, g)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one, home: matches nothing
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real // as the paths that it is compared with
	}
	own := slices.DeleteFunc([]string{g.at.Config, g.at.State, g.file}, func(name string) bool { return name == "" })
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment})
	return policy.New(policy.Options{Mode: mode, Rules: rules, Paths: judge{g.root}, Home: home, Own: own, Ask: asker,
		Local: func(program string) string { return proc.Within(program, g.root.Dir(), env) }})
}

func gateRules(cfg config.Config, flags command.Gate, g ground) ([]policy.Rule, error) {
	var outputs []string
	if g.spill != "" {
		spill := g.spill
		if p, err := g.root.Resolve(spill); err == nil {
			spill = p.Abs()
		}
		outputs = []string{"read(abs:" + literalGlob(spill) + "/**)"}
	}
	var rules []policy.Rule
	for _, source := range []struct {
		effect policy.Effect
		layer  policy.Layer
		flag   string
		texts  []string
	}{
		{policy.Deny, policy.CommandLine, "--deny", flags.Deny},
		{policy.Allow, policy.CommandLine, "--allow", flags.Allow},
		{policy.Deny, policy.User, "deny in " + cfg.Origin("deny"), cfg.Deny},
		{policy.Allow, policy.User, "allow in " + cfg.Origin("allow"), cfg.Allow},
		{policy.Allow, outputLayer, "session output", outputs},
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
	place := policy.Place{Abs: p.Abs(), Rel: p.Display(), Outside: p.Outside(), Protected: p.Protected()}
	if named := p.Named(); named != p.Abs() {
		rel, inside := j.root.Inside(named)
		place.Named = &policy.Place{Abs: named, Rel: rel, Outside: !inside}
	}
	return place, nil
}
