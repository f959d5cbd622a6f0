package conversation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"adze/internal/config"
	"adze/internal/editors/lsp"
	"adze/internal/files/formatter"
	"adze/internal/project/trust"
	"adze/internal/run/guard"
	"adze/internal/run/settings"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/session"
)

// newLanguageServers returns the language servers to check a run's edits, or nil. They run in the
// sandbox if there is one. Unless the user has set "on", they require a full sandbox: a server
// executes project code and configuration.
func newLanguageServers(s *settings.Settings, g *guard.Guard) *lsp.Servers {
	if !s.UseLanguageServers() {
		return nil
	}
	languages, env := s.Languages()
	if len(languages) == 0 {
		return nil
	}
	dir, project := s.Root.Dir(), s.Project()
	// The sandbox applies in each permission mode, because a server's actions are never asked
	// about.
	cage := &sandbox.Cage{Box: g.Cage.Box, Setting: g.Cage.Setting, Wanted: func() bool { return true }}
	options := lsp.Options{
		Root: dir, Languages: languages, Env: env, Supervisor: proc.Supervisor{Ledger: g.Ledger, Cage: cage}, RequireSandbox: s.Config.Languages.Use != config.LanguagesOn,
		Allows: func(sdk lsp.SDK) bool { return project.Allows(settings.SDKItem(sdk)) },
	}
	if options.RequireSandbox {
		options.Refuses = func() error {
			if cage.Full() {
				return nil
			}
			return errors.New("it runs in a full sandbox only, and there is none here; language_servers.use \"on\" lets it run without")
		}
	}
	if s.Hide != nil {
		options.Mask = func(text string) string { return s.Hide().Text(text) }
	}
	return lsp.New(options)
}

// codeWait and codeWaitAlone limit the wait for language servers at the end of an answer: with a
// user, who gets late results with the next prompt, and without one. A cold server reads the whole
// project first.
const (
	codeWait      = 5 * time.Second
	codeWaitAlone = 15 * time.Second
)

// codeNotes returns notes for the model with late results from language servers.
func (w *tools) codeNotes(holds bool) (out []session.Note) {
	found := w.deps.Code.Late()
	if len(found) == 0 {
		return nil
	}
	text := lsp.LateText(found, func(abs string) string {
		if rel, inside := w.Settings.Root.Rel(abs); inside {
			return rel
		}
		return abs
	})
	clean := !slices.ContainsFunc(found, func(f lsp.Findings) bool { return !f.Clean() })
	return []session.Note{{Kind: session.CodeNote, Source: "language servers", Text: text, Holds: holds && !clean}}
}

// await returns a function that waits, at the end of a turn, for notes from language servers and,
// without a user, from background subagents. It returns nil if there is nothing to wait for.
func (w *tools) await() func(context.Context) bool {
	alone, limit := w.Settings.Request.Print, codeWait
	if alone {
		limit = codeWaitAlone
	}
	if w.deps.Code == nil && !alone {
		return nil
	}
	return func(ctx context.Context) bool {
		return w.deps.Code != nil && w.awaitCode(ctx, limit) || alone && w.agents.Await(ctx)
	}
}

// awaitCode waits for language servers. It reports whether the turn must continue because of their
// results.
func (w *tools) awaitCode(ctx context.Context, limit time.Duration) bool {
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if w.deps.Code.Await(wait) {
		for _, n := range w.codeNotes(true) {
			w.later.Load().Note(n)
			if n.Holds {
				return true
			}
		}
	}
	if n := w.deps.Code.PendingCount(); n > 0 && ctx.Err() == nil {
		w.Menu.Notice("not checked yet: " + plural.Of(n, "edit") + "; the language server has not answered")
	}
	return false
}

// formatters returns the configured formatters.
func formatters(s *settings.Settings, g *guard.Guard) *formatter.Formatters {
	if len(s.Config.Formatters) == 0 || s.Request.Demo {
		return nil
	}
	dir := s.Root.Dir()
	f := &formatter.Formatters{Dir: dir, Supervisor: g.Supervisor(), Env: s.CleanEnv(dir)}
	for _, name := range slices.Sorted(maps.Keys(s.Config.Formatters)) {
		one := s.Config.Formatters[name]
		f.All = append(f.All, formatter.Formatter{Name: name, Files: one.Files, Command: one.Command, May: g.MayTake(trust.Formatter, name, one.Command, "")})
	}
	return f
}
