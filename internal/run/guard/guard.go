// Package guard controls a run's effects on the machine: the policy that judges calls, the sandbox
// for commands, and the recorder that keeps changed files for undo.
//
// The one rule: a guard is complete once it exists. Policy and sandbox refer to each other, so New
// creates both.
//
// Start reading at New.
package guard

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"adze/internal/config"
	configpaths "adze/internal/config/paths"
	"adze/internal/fleet/batch"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/run/settings"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/internal/web"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Guard belongs to one run.
type Guard struct {
	Gate      *policy.Policy
	Cage      *sandbox.Cage
	Keeper    *recorder.Keeper // nil without undo
	Ledger    *proc.Ledger
	ChangeLog *recorder.ChangeLog // observed changes by calls
	Notices   []string            // for the user
	Followed  atomic.Bool         // hooks run after calls and may change files

	settings *settings.Settings
	shells   *recorder.Shells
	inquire  toolset.Inquire
	closers  []func()
	stage    *Stage      // the session's; nil if none
	review   atomic.Bool // review each turn's changes once: policy.Mode.Reviewed
}

// Options holds a guard's parameters besides settings.
type Options struct {
	Spill           string   // folder of the session's complete outputs; may be empty
	ReadableFolders []string // folders that a model may read
	Ask             policy.Asker
	Inquire         toolset.Inquire
	IsOwnCommand    func(proc.Command) bool // reports the user's own command; may be nil
	Stored          func() session.Store    // the run's store; nil disables undo
	Observe         func(session.Event)
}

// New creates a run's guard. The sandbox is not tested before the first command.
func New(s *settings.Settings, n Options) (*Guard, error) {
	g := &Guard{settings: s, inquire: n.Inquire, Ledger: proc.NewLedger(s.Places.Jobs()), shells: new(recorder.Shells), ChangeLog: new(recorder.ChangeLog)}
	if err := g.assemble(n); err != nil {
		g.Close()
		return nil, err
	}
	finished, err := g.Cage.Box.Recover()
	if g.Notices = append(g.Notices, finished...); err != nil {
		g.Notices = append(g.Notices, "what a killed adze had begun to change cannot be finished: "+err.Error())
	}
	return g, nil
}

// assemble creates the parts that refer to each other.
func (g *Guard) assemble(n Options) (err error) {
	s := g.settings
	setting, _ := sandbox.ParseSetting(s.Config.Sandbox.Use) // already validated by settings
	box := sandbox.ForWorkspace(s.Root.Dir(), s.Places.State, s.Places.Config, configpaths.Absolute(s.File))
	g.closers = append(g.closers, box.Close)
	// In a mode that asks or has rules for commands they run outside: until a sandbox permits some
	// network access, an installation with the user's consent would fail in it.
	g.Cage = &sandbox.Cage{Setting: setting, Box: box, RunsOutside: n.IsOwnCommand, Wanted: func() bool { return g.Gate.Mode() == policy.Auto || g.Gate.Mode().OnStage() }}
	if g.Gate, err = policyconfig.New(s.Config, s.Request.Flags, g.ground(n), n.Ask); err != nil {
		return err
	}
	g.review.Store(g.Gate.Mode().OnStage() || s.Config.Review == config.ReviewOnce)
	g.keepFiles(n)
	shown := s.Config.Sandbox
	box.SetNetwork(sandbox.Network{Canonical: web.CanonicalHost, Dial: g.Reach().Connect}).
		Show(shown.Places(shown.Read, s.Home), shown.Places(shown.Write, s.Home), reachedByRules{g.Gate, s}).
		SetChangePolicy(g.protects, func(tag string, paths []string, apply func() []string) error {
			return g.Keeper.Applying(proc.TagOf(tag), paths, apply)
		})
	return nil
}

// Close ends the guard's parts.
func (g *Guard) Close() {
	for _, end := range slices.Backward(g.closers) {
		end()
	}
	g.closers = nil
}

// protects returns the reason that a path must not change, or "".
func (g *Guard) protects(path string) string {
	if rule := g.Gate.RuleAgainst(tool.Write, path); rule != "" {
		return "the rule " + rule + " keeps it as it is"
	}
	return ""
}

// Supervisor returns the supervisor for commands.
func (g *Guard) Supervisor() proc.Supervisor {
	return proc.Supervisor{Ledger: g.Ledger, Cage: g.Cage, Live: func(ctx context.Context, c proc.Command) error { return g.Keeper.Live(ctx, proc.TagOf(c.Tag)) }}
}

// SetMode sets the mode. It tests the sandbox in the background, so that its level is known before
// the first command.
func (g *Guard) SetMode(name string) error {
	mode := policy.Mode(name)
	return g.enforce(mode, g.review.Load() || mode.OnStage())
}

// SetReview turns the single review of later turns' changes on or off.
func (g *Guard) SetReview(once bool) error { return g.enforce(g.Gate.Mode(), once) }

func (g *Guard) enforce(mode policy.Mode, review bool) error {
	if err := g.Gate.SetMode(mode.Reviewed(review)); err != nil {
		return err
	}
	g.review.Store(review)
	go g.Cage.Report(context.Background())
	return nil
}

// ground returns the subjects of this run's rules.
func (g *Guard) ground(n Options) policyconfig.RunPaths {
	s := g.settings
	return policyconfig.RunPaths{Root: s.Root, Places: s.Places, File: configpaths.Absolute(s.File), Spill: n.Spill, ReadableFolders: n.ReadableFolders, Project: s.ProjectConfig, Managed: s.Owner,
		Options: policy.Options{Contained: g.Cage.Holds, Gaps: g.Cage.Gaps, SeparationProblem: g.Cage.SeparationProblem, Stage: g.unstaged, Leaks: func(text string) bool { return s.Ring.Mask().Leaks(text) }}}
}

// reachedByRules implements sandbox.Rules with the user's rules.
type reachedByRules struct {
	gate     *policy.Policy
	settings *settings.Settings
}

func (r reachedByRules) Allowed(write bool) []string {
	return r.gate.Named(kindOf(write))
}

func (r reachedByRules) Denied(write bool) (out []sandbox.Denial) {
	for _, ban := range r.gate.Bans(kindOf(write)) {
		home, _ := filepath.EvalSymlinks(r.settings.Home) // without it, rules of home: match nothing
		roots := map[string]string{"home": home, "abs": "/", "work": r.settings.Root.Dir(), "": r.settings.Root.Dir()}
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

func (r reachedByRules) Secret() []string { return policy.SecretPlaces(r.settings.Home) }

// Reach returns the web policy: the user's rules may permit addresses that are otherwise refused.
func (g *Guard) Reach() web.Policy {
	return web.Policy{
		AllowPort:     g.Gate.NamesPort,
		AllowAddr:     g.Gate.NamesAddress,
		AllowRedirect: func(_, to *url.URL) bool { return g.Gate.Follows(to.String()) },
	}
}

// keepFiles creates the undo recorder. A run that saves nothing has no undo.
func (g *Guard) keepFiles(n Options) {
	s := g.settings
	if n.Stored == nil || !s.Request.Saves() || s.Config.Undo.Disabled || "ADZE_UNDO="+s.Getenv("ADZE_UNDO") == batch.UndoOff {
		return
	}
	kept := s.Undoing(s.Root.Dir())
	kept.Jobs, kept.ChangeLog = g.shells.Running, g.ChangeLog
	kept.Separate = func(r tool.Record) bool {
		return r.Tool == "bash" || r.Tool == toolset.StageTool || g.begun() != nil
	}
	kept.Followed = g.Followed.Load
	kept.Notify, kept.Mask = func(text string) { n.Observe(session.Notice{Text: text}) }, func(text string) string { return s.Ring.Mask().Text(text) }
	kept.Skip = func(path string) bool { return g.Cage.Box.IsPlaceholder(filepath.Join(kept.Root, path)) }
	kept.Named = func(ctx context.Context) ([]undo.Named, error) { return recorder.Named(ctx, n.Stored(), kept.Root) }
	kept.Path = func(name string) (string, bool) {
		p, err := s.Root.Resolve(name)
		rel, inside := s.Root.Rel(p.Abs())
		return rel, inside && err == nil
	}
	kept.Failed = g.uncovered
	g.Keeper = recorder.NewKeeper(kept)
	g.closers = append(g.closers, func() { _ = g.Keeper.Close() }) // its table is only a cache
}

// Answers to uncovered.
const (
	runOnce = "run it anyway"
	dontRun = "do not run it"
)

// uncovered asks the user about a call whose files cannot be recorded; without a user it does not
// run.
func (g *Guard) uncovered(ctx context.Context, err error) error {
	if g.inquire == nil {
		return fmt.Errorf(`%w ("undo": {"off": true} in the configuration runs it, and keeps nothing)`, err)
	}
	answer, asked := g.inquire(ctx, toolset.Inquiry{Asks: "adze", Choices: []string{runOnce, dontRun},
		Question: fmt.Sprintf("The files could not be kept as they are, so that what this call changes could not be undone: %v. Run it?", err)})
	if asked != nil || answer != runOnce {
		return err
	}
	return nil
}
