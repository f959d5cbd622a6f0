// Package policyconfig makes the policy of a run: the rules of the configuration and of the command
// line over one workspace, and what adze keeps for itself.
//
// The one rule: it makes a policy and decides nothing; packages policy and workspace do.
//
// Start reading at New.
//
// Known limits: without a home folder, rules of home: match nothing.
package policyconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"adze/internal/config"
	configpaths "adze/internal/config/paths"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// outputLayer is where the rule comes from that lets a model read the whole of its own cut outputs.
const outputLayer policy.Layer = "session output"

// keysLayer is where the rule comes from that keeps the keys of the user from every tool.
const keysLayer policy.Layer = "kept keys"

// Ground is what the rules of a run are about: the workspace, and where adze keeps its own.
type Ground struct {
	Root  *workspace.Root
	At    configpaths.Places
	File  string // the user's configuration, absolute
	Spill string // this session's whole outputs, which a model may read; if empty, none
	// Lent are folders whose files a model may read, such as those of the user's skills.
	Lent []string
	// Project is what the project's own file says, Managed what the machine's owner does.
	Project config.Project
	Managed config.Managed
	// Options say what is asked about the sandbox, the stage and known secrets; New adds the rest.
	Options policy.Options
}

// Flags say where to work and what is allowed.
type Flags struct {
	Cwd         string
	Mode        string
	Staged      string // keep, take, drop or patch=FILE; if empty, the setting review holds
	Sandbox     string
	Allow, Deny []string
	Asks        []string
}

// Add takes them from the command line of a run, and of commands that decide as a run does.
func (g *Flags) Add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&g.Cwd, "cwd", "", "work in this `DIR`")
	f.StringVar(&g.Mode, "permission-mode", "", "ask, auto or plan (default ask; adze help permissions)")
	f.BoolFunc("yolo", "ask about nothing; deny rules still hold", func(yes string) error {
		if yes == "true" {
			g.Mode = string(policy.Yolo)
		}
		return nil
	})
	f.Var((*sandboxFlag)(&g.Sandbox), "sandbox", "on or off: whether commands run in the sandbox (default: in mode auto)")
	f.Var((*ruleList)(&g.Allow), "allow", "allow what this `RULE` matches, such as 'execute(go test **)'")
	f.Var((*ruleList)(&g.Asks), "ask", "ask about what this `RULE` matches, each time, also where it is allowed")
	f.Var((*ruleList)(&g.Deny), "deny", "deny what this `RULE` matches; a deny always holds")
}

// sandboxFlag is a flag that says no more than it said first, once that was required.
type sandboxFlag string

func (s *sandboxFlag) Set(setting string) error {
	if setting = config.SandboxUse(setting); *s != "" && (*s == config.SandboxRequired) != (setting == config.SandboxRequired) {
		return fmt.Errorf("%s and %s are both asked for, and what is required cannot be taken back", *s, setting)
	}
	*s = sandboxFlag(setting)
	return nil
}

func (s *sandboxFlag) String() string { return string(*s) }

// Type stands in the help of the flag.
func (s *sandboxFlag) Type() string { return "string" }

// ruleList is a flag that is given once for each rule. That of package pflag makes a writer of CSV,
// with a buffer, for each such flag of each command at every start, to say that there is none.
type ruleList []string

func (l *ruleList) Set(rule string) error {
	*l = append(*l, rule)
	return nil
}

func (l *ruleList) String() string { return strings.Join(*l, " ") }

// Type stands in the help of a flag, and is pflag's name for such a list.
func (l *ruleList) Type() string { return "stringArray" }

// New makes the policy of a run from the configuration and the flags.
func New(cfg config.Config, flags Flags, g Ground, asker policy.Asker) (*policy.Policy, error) {
	mode, modes, err := modeOf(cmp.Or(flags.Mode, cfg.PermissionMode), g.Managed, flags.Staged != "" || cfg.Review == config.ReviewOnce)
	var mistake *usage.Error
	if flags.Mode == "" && errors.As(err, &mistake) && cfg.Origin("permission_mode") != "default" {
		err = usage.Mistake(mistake.Hint, "%s: permission_mode: %s", cfg.Origin("permission_mode"), mistake.Message)
	}
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(cfg, flags, g)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one, home: matches nothing
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real // as the paths that it is compared with
	}
	own := slices.DeleteFunc([]string{g.At.Config, g.At.State, g.File}, func(name string) bool { return name == "" })
	for i, name := range own {
		own[i] = filepath.ToSlash(name)
	}
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment})
	outside := sync.OnceValue(func() []string { return proc.Outside(env, g.Root.Dir()) }) // looks at each folder of PATH
	o := g.Options
	o.Mode, o.Modes, o.Rules, o.Ask = mode, modes, rules, asker
	o.Paths, o.Home, o.Own = judge{g.Root, home}, filepath.ToSlash(home), own
	o.Shell = proc.FindShell(os.Getenv, env).Name
	o.Files, o.Repos = folders{}, repositories{outside, g.Root.Dir()}
	o.Local = func(program string) string { return proc.Within(program, g.Root.Dir(), env) }
	return policy.New(o)
}

// modeOf reads the mode that a user wants, and which there are where the machine's owner lets only
// some be chosen: the usual one, or the first of those, where they did not say.
func modeOf(name string, owner config.Managed, review bool) (policy.Mode, []policy.Mode, error) {
	var modes []policy.Mode
	for _, text := range owner.Modes {
		m, err := policy.ParseMode(text)
		if err != nil {
			return "", nil, &config.Error{Path: owner.Path, Message: err.Error(), Hint: "the owner of this machine mends it"}
		}
		modes = append(modes, m)
	}
	mode := policy.AskFirst
	if name == "" && len(modes) > 0 && !slices.Contains(modes, mode) {
		mode = modes[0]
	}
	if name != "" {
		var err error
		if mode, err = policy.ParseMode(name); err != nil {
			return "", nil, usage.Mistake("the modes are "+strings.Join(policy.Modes(), ", "), "%v", err)
		}
	}
	mode = mode.Reviewed(review || mode.OnStage())
	if !mode.Among(modes) {
		return "", nil, usage.Mistake("choose one of "+strings.Join(owner.Modes, ", "), "the owner of this machine does not let the permission mode be %s (%s)", mode, owner.Path)
	}
	return mode, modes, nil
}

func rulesOf(cfg config.Config, flags Flags, g Ground) ([]policy.Rule, error) {
	served := "" // who has a token answers for the user
	if g.At.State != "" {
		served = filepath.Join(g.At.State, configpaths.Served)
	}
	real := g.literals(append([]string{g.Spill, g.At.Keys, served}, g.Lent...))
	read := func(paths []string, pattern string) (texts []string) {
		for _, path := range paths {
			if path != "" {
				texts = append(texts, "read(abs:"+path+pattern+")")
			}
		}
		return texts
	}
	outputs, lent := read(real[:1], "/**"), read(real[3:], "/**")
	kept := append(read(real[1:2], ""), read(real[2:3], "/**")...)
	var rules []policy.Rule
	for _, source := range []struct {
		effect policy.Effect
		layer  policy.Layer
		flag   string
		texts  []string
	}{
		{policy.Deny, policy.Managed, "deny in " + g.Managed.Path, g.Managed.Deny},
		{policy.Ask, policy.Managed, "ask in " + g.Managed.Path, g.Managed.Ask},
		{policy.Deny, policy.CommandLine, "--deny", flags.Deny},
		{policy.Ask, policy.CommandLine, "--ask", flags.Asks},
		{policy.Allow, policy.CommandLine, "--allow", flags.Allow},
		{policy.Deny, policy.User, "deny in " + cfg.Origin("deny"), cfg.Deny},
		{policy.Ask, policy.User, "ask in " + cfg.Origin("ask"), cfg.Ask},
		{policy.Allow, policy.User, "allow in " + cfg.Origin("allow"), cfg.Allow},
		{policy.Deny, policy.Project, "deny in " + g.Project.Path, g.Project.Deny},
		{policy.Ask, policy.Project, "ask in " + g.Project.Path, g.Project.Ask},
		{policy.Allow, outputLayer, "session output", outputs},
		{policy.Allow, policy.Lent, "lent folders", lent},
		{policy.Deny, keysLayer, "kept keys", kept},
	} {
		for _, text := range source.texts {
			r, err := policy.ParseRule(source.effect, source.layer, text)
			if err != nil {
				return nil, usage.Mistake("such as read(home:notes/**), write(work:src/**), execute(go test **), execute(mcp:files read_*), network(https://go.dev)", "%s: %v", source.flag, err)
			}
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// literals are paths as rules know them: where they really are, without patterns. An empty one
// stays so.
func (g Ground) literals(paths []string) []string {
	led := g.Root.Lead(paths)
	for i, path := range paths {
		if led[i] = cmp.Or(led[i], path); path == "" {
			led[i] = ""
		}
		led[i] = literalGlob(filepath.ToSlash(led[i]))
	}
	return led
}

// literalGlob quotes what has a meaning in a path pattern.
func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(path)
}

// judge resolves paths for the policy exactly as the tools will.
type judge struct {
	root *workspace.Root
	home string // free of links; if empty, there is none
}

// Follow implements policy.Follower.
func (j judge) Follow(names []string) []string {
	led := j.root.Lead(names)
	for i, at := range led {
		led[i] = filepath.ToSlash(at)
	}
	return led
}

func (j judge) Judge(name string) (policy.Place, error) {
	p, err := j.root.Resolve(name)
	if err != nil {
		return policy.Place{}, err
	}
	place := policy.Place{Abs: filepath.ToSlash(p.Abs()), Rel: p.Display(), Outside: p.Outside(), Protected: p.Protected()}
	if named := p.Named(); named != p.Abs() {
		rel, inside := j.root.Inside(named)
		place.Named = &policy.Place{Abs: filepath.ToSlash(named), Rel: rel, Outside: !inside}
	}
	place.HardLinks = j.hardLinks(p)
	return place, nil
}
