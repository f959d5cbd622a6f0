package run

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	configpaths "adze/internal/config/paths"
	"adze/internal/files/search"
	"adze/internal/files/workspace"
	"adze/internal/llm/models"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/text/redact"
	"adze/internal/web"
	"adze/internal/web/websearch"
	"adze/tool"
	"adze/toolset"
)

// deps makes what the built-in tools work with. Commands see the user's environment without
// secrets.
func (s settings) deps(w *wired) toolset.Deps {
	w.ledger, w.spare = proc.NewLedger(s.at.Jobs()), new(proc.Spare)
	w.closers = append(w.closers, w.spare.Close)
	w.cage = s.cage(w)
	w.closers = append(w.closers, w.cage.Box.Close)
	finished, err := w.cage.Box.Recover()
	if w.notices = append(w.notices, finished...); err != nil {
		w.notices = append(w.notices, "what a killed adze had begun to change cannot be finished: "+err.Error())
	}
	shell := s.shell(w)
	shell.Terminal = w.person.terminal
	w.closers = append(w.closers, shell.Close)
	w.folders = search.NewFolders()
	return toolset.Deps{
		Bounds: s.bounds(), Web: web.New(reach(func() *policy.Policy { return w.gate })),
		Withhold: func(root string) func(dir, name string) bool { return w.gate.Sieve(root) },
		Root:     s.root, Signs: s.signs(w), Folders: w.folders, Seen: &workspace.Seen{}, Shell: shell, Todos: &toolset.Todos{},
		Declared: &toolset.Declared{Dir: filepath.Join(s.at.Config, "tools"), Project: s.projectTools()},
	}
}

// signs knows which files a search need not read; nil where the user does not want that.
func (s settings) signs(w *wired) *search.Signs {
	cache, err := os.UserCacheDir()
	if err != nil || !s.config.Search.Indexed() {
		return nil
	}
	signs := search.NewSigns(filepath.Join(cache, "adze", "signs"), s.root.Dir())
	w.closers = append(w.closers, func() { _ = signs.Close() })
	return signs
}

// ground is what the rules of this run are about.
func (w *wired) ground(spill string) policyconfig.Ground {
	s := w.settings
	return policyconfig.Ground{Root: s.root, At: s.at, File: configpaths.Absolute(s.file), Spill: spill, Lent: w.shelf.Lent(s.root.Dir()), Project: s.says, Managed: s.owner, Contained: w.cage.Holds, Lacks: w.cage.Lacks, Aside: w.cage.Aside,
		Leaks: func(text string) bool { return s.known().Leaks(text) }}
}

// shell makes what runs the commands of one session, a subagent's too.
func (s settings) shell(w *wired) *toolset.Shell {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment, Secrets: models.KeyNames(s.config)})
	shell := toolset.NewShell(proc.Supervisor{Ledger: w.ledger, Cage: w.cage, Spare: w.spare, Watch: w.writers.Watch(s.root.Dir()), Live: w.live}, env)
	shell.Bounds, shell.MayLeave = s.bounds(), w.cage.Setting == sandbox.Auto
	shell.Tried = w.tried
	if s.hide != nil {
		shell.Mask = func() *redact.Stream { return s.hide().Stream() }
	}
	w.shells.Add(shell.Jobs())
	shell.Limit(time.Duration(s.config.Limits.BashTimeout), time.Duration(s.config.Limits.BashMaxTimeout))
	return shell
}

// sandboxHint is the way out for who requires a sandbox that is not there.
const sandboxHint = "adze doctor says what is missing; without --sandbox required commands run outside, as the rules and you allow"

// cage is what the commands of a run are put into. Nothing is tried before the first of them.
func (s settings) cage(w *wired) *sandbox.Cage {
	setting, _ := sandbox.ParseSetting(s.config.Sandbox.Use) // settle has read it
	shown := s.config.Sandbox
	return &sandbox.Cage{
		Setting: setting, Box: sandbox.Of(s.root.Dir(), s.at.State, s.at.Config, configpaths.Absolute(s.file)).Through(sandbox.Network{
			Canonical: web.CanonicalHost, Dial: reach(func() *policy.Policy { return w.gate }).Connect,
		}).Show(shown.Places(shown.Read, s.home), shown.Places(shown.Write, s.home), reachedByRules{w}).Bounded(s.config.Limits.SandboxBounds()).Judged(
			func(path string) string {
				if w.gate == nil {
					return ""
				}
				if rule := w.gate.RuleAgainst(tool.Write, path); rule != "" {
					return "the rule " + rule + " keeps it as it is"
				}
				return ""
			},
			func(tag string, paths []string, apply func() []string) error {
				return w.keeper.Applying(proc.TagOf(tag), paths, apply)
			},
		),
		// A mode that asks or is told what to allow runs that outside: until a sandbox lets some of the
		// network in, an installation that a user agreed to would fail in it.
		Wanted: func() bool { return w.gate != nil && w.gate.Mode() == policy.Auto },
	}
}

// reachedByRules asks the user's rules for the sandbox: sandbox.Rules. The gate is made later than
// the sandbox.
type reachedByRules struct{ w *wired }

func (r reachedByRules) Allowed(write bool) []string {
	if r.w.gate == nil {
		return nil
	}
	return r.w.gate.Named(kindOf(write))
}

func (r reachedByRules) Denied(write bool) (out []sandbox.Denial) {
	if r.w.gate == nil {
		return nil
	}
	for _, ban := range r.w.gate.Bans(kindOf(write)) {
		home, _ := filepath.EvalSymlinks(r.w.settings.home) // without one, rules of home: cover nothing
		roots := map[string]string{"home": home, "abs": "/", "work": r.w.settings.root.Dir(), "": r.w.settings.root.Dir()}
		if root := roots[ban.Anchor]; root != "" {
			pattern := ban.Pattern
			if ban.Anchor == "abs" {
				pattern = strings.TrimPrefix(pattern, "/")
			}
			out = append(out, sandbox.Denial{Rule: ban.Rule, Root: root, Pattern: pattern, Fold: policy.Folded})
		}
	}
	return out
}

func kindOf(write bool) tool.Permission {
	if write {
		return tool.Write
	}
	return tool.Read
}

func (r reachedByRules) Secret() []string { return policy.SecretPlaces(r.w.settings.home) }

func (s settings) bounds() toolset.Bounds {
	limits := s.config.Limits
	return toolset.Bounds{Lines: s.config.Output.Lines, Bytes: s.config.Output.Bytes, Glob: limits.Glob, Grep: limits.Grep, List: limits.List}
}

// namesTools reports whether the user said which tools there are: none, with --tools "".
func (o *options) namesTools() bool {
	return len(o.tools) > 0 || o.given != nil && o.given("tools")
}

// toolsFor initialises the catalogue and narrows it to what this run offers.
func toolsFor(ctx context.Context, o *options, deps toolset.Deps, dir string, p models.Profile, m *mcpServers) (*tool.Set, error) {
	registry, err := toolset.New(deps)
	if err != nil {
		return nil, err
	}
	m.enlist(registry)
	set, err := registry.Tools(ctx, tool.Init{Workspace: dir, Directory: dir, Cwd: dir})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(o.tools, o.noTools) {
		if !set.Has(name) {
			return nil, misuse("the tools are: "+fmt.Sprint(sortedNames(set.Names())), "there is no tool %q", name)
		}
	}
	return set.Named(func(name string) bool {
		switch {
		case slices.Contains(o.noTools, name):
			return false
		case o.namesTools():
			return slices.Contains(o.tools, name)
		case name == "task_complete":
			return o.taskComplete || p.TaskComplete
		case name == "task":
			return p.Tasks
		}
		return true
	}), nil
}

// tellDeclared tells the user which of their tools, and of those of the project that they
// allowed, cannot be used.
func (w *wired) tellDeclared(own *toolset.Declared) {
	for _, mistake := range own.Mistakes {
		w.notices = append(w.notices, mistake.Error())
	}
}

// reach lets the fetcher of pages go where the user's rules name a place that is otherwise
// refused. The gate is made later than the tools, and always before the first call.
func reach(gate func() *policy.Policy) web.Policy {
	return web.Policy{
		AllowPort:     func(host string, port uint16) bool { return gate().NamesPort(host, port) },
		AllowAddr:     func(host string, at netip.AddrPort) bool { return gate().NamesAddress(host, at) },
		AllowRedirect: func(_, to *url.URL) bool { return gate().Follows(to.String()) },
	}
}

// searchEngine is the one of the configuration; nil without one, and where it cannot be used, which
// is told. It may be on this machine or in a private network, since the user wrote its address
// down; nothing else there is reached by it.
func (a *app) searchEngine(s settings, w *wired) toolset.WebSearch {
	c := s.config.Search
	if c.Engine == "" {
		return nil
	}
	o := websearch.Options{Engine: c.Engine, BaseURL: c.BaseURL, KeyName: strings.Join(c.Keys(), " or ")}
	for _, name := range c.Keys() {
		o.Key = cmp.Or(o.Key, a.Getenv(name))
	}
	var e *websearch.Engine
	here := func(host string, port uint16) bool { return host == e.Host() && port == e.Port() }
	there := web.Policy{
		AllowPort: here,
		AllowAddr: func(host string, at netip.AddrPort) bool { return c.BaseURL != "" && here(host, at.Port()) },
	}
	o.Connect = there.Connect
	e, err := websearch.New(o)
	if err != nil {
		w.notices = append(w.notices, "the web cannot be searched: "+err.Error())
		return nil
	}
	return e
}
