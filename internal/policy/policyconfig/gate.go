// Package policyconfig builds a run's policy from the configuration and the command line, for one
// workspace and adze's own folders.
//
// The one rule: it builds a policy and decides nothing; packages policy and workspace do.
//
// Start reading at New.
//
// Known limits: without a home folder, home: rules match nothing.
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

// Layer for the rule that lets a model read its own complete outputs.
const outputLayer policy.Layer = "session output"

// Layer for the protection of the user's keys from every tool.
const keysLayer policy.Layer = "kept keys"

// RunPaths holds the paths and settings that a run's rules refer to.
type RunPaths struct {
	Root   *workspace.Root
	Places configpaths.Places
	File   string // the user's configuration, absolute
	Spill  string // folder with this session's complete outputs, readable by the model; may be empty
	// ReadableFolders lists readable folders, such as the user's skills.
	ReadableFolders []string
	// Project is the project's configuration, Managed the machine owner's.
	Project config.Project
	Managed config.Managed
	// Options holds the functions for sandbox, stage and secrets; New adds the rest.
	Options policy.Options
}

// Flags hold the command line's settings.
type Flags struct {
	Cwd         string
	Mode        string
	Staged      string // keep, take, drop or patch=FILE; empty means the setting review
	Sandbox     string
	Allow, Deny []string
	Asks        []string
}

// Add registers the flags for run and for commands that decide likewise.
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

// sandboxFlag rejects values that contradict an earlier one about whether the sandbox is required.
type sandboxFlag string

func (s *sandboxFlag) Set(setting string) error {
	if setting = config.SandboxUse(setting); *s != "" && (*s == config.SandboxRequired) != (setting == config.SandboxRequired) {
		return fmt.Errorf("%s and %s are both asked for, and what is required cannot be taken back", *s, setting)
	}
	*s = sandboxFlag(setting)
	return nil
}

func (s *sandboxFlag) String() string { return string(*s) }

// Type is shown in the flag's help.
func (s *sandboxFlag) Type() string { return "string" }

// ruleList is a flag that is repeated for each rule. pflag's own type creates a CSV writer with a
// buffer for each such flag at every start.
type ruleList []string

func (l *ruleList) Set(rule string) error {
	*l = append(*l, rule)
	return nil
}

func (l *ruleList) String() string { return strings.Join(*l, " ") }

// Type is shown in the flag's help; pflag uses this name for such a list.
func (l *ruleList) Type() string { return "stringArray" }

// New returns a run's policy from configuration and flags.
func New(cfg config.Config, flags Flags, g RunPaths, asker policy.Asker) (*policy.Policy, error) {
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
		home = real // like the paths it is compared with
	}
	own := slices.DeleteFunc([]string{g.Places.Config, g.Places.State, g.File}, func(name string) bool { return name == "" })
	for i, name := range own {
		own[i] = filepath.ToSlash(name)
	}
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment})
	outside := sync.OnceValue(func() []string { return proc.WithoutPathsIn(env, g.Root.Dir()) }) // examines each folder in PATH
	o := g.Options
	o.Mode, o.Modes, o.Rules, o.Ask = mode, modes, rules, asker
	o.Paths, o.Home, o.OwnPaths = judge{g.Root, home}, filepath.ToSlash(home), own
	o.Shell = proc.FindShell(os.Getenv, env).Name
	o.Files, o.Repos = folders{}, newRepositories(outside, g.Root.Dir())
	o.Local = func(program string) string { return proc.ProgramIn(program, g.Root.Dir(), env) }
	return policy.New(o)
}

// modeOf returns the mode and the selectable ones, which the machine's owner may restrict. The
// default is the usual mode, or the first selectable one.
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
	if !mode.IncludedIn(modes) {
		return "", nil, usage.Mistake("choose one of "+strings.Join(owner.Modes, ", "), "the owner of this machine does not let the permission mode be %s (%s)", mode, owner.Path)
	}
	return mode, modes, nil
}

func rulesOf(cfg config.Config, flags Flags, g RunPaths) ([]policy.Rule, error) {
	served := "" // the token's owner answers for the user
	if g.Places.State != "" {
		served = filepath.Join(g.Places.State, configpaths.Served)
	}
	real := g.literals(append([]string{g.Spill, g.Places.Keys, served}, g.ReadableFolders...))
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

// literals resolves paths for rules and quotes patterns. An empty one stays empty.
func (g RunPaths) literals(paths []string) []string {
	led := g.Root.Lead(paths)
	for i, path := range paths {
		if led[i] = cmp.Or(led[i], path); path == "" {
			led[i] = ""
		}
		led[i] = literalGlob(filepath.ToSlash(led[i]))
	}
	return led
}

func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(path)
}

// judge resolves paths exactly like the tools.
type judge struct {
	root *workspace.Root
	home string // links resolved; empty if there is none
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
		rel, inside := j.root.Rel(named)
		place.Named = &policy.Place{Abs: filepath.ToSlash(named), Rel: rel, Outside: !inside}
	}
	place.HardLinks = j.hardLinks(p)
	return place, nil
}
