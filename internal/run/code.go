package run

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/config"
	"adze/internal/editors/lsp"
	"adze/internal/files/formatter"
	"adze/internal/llm/models"
	"adze/internal/project/trust"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/session"
)

// useLanguageServers reports whether servers may check the edits of a run. Without a word of the
// user's they may for who sits before a terminal.
func (s settings) useLanguageServers(o *options) bool {
	use := s.config.Languages.Use
	return use != config.LanguagesOff && !o.bare && !o.demo && o.byHand == nil && (use == config.LanguagesOn || !o.print)
}

// languageServers are those that may check the edits of a run; if nil, none. They run in the
// sandbox where there is one. Without the user's "on" they run in a full one only: a server reads
// what the project says.
func (s settings) languageServers(o *options, w *wired) *lsp.Servers {
	if !s.useLanguageServers(o) {
		return nil
	}
	languages, env := s.languages()
	if len(languages) == 0 {
		return nil
	}
	dir, project := s.root.Dir(), s.project()
	// In each permission mode: nobody is asked about what a server does.
	cage := &sandbox.Cage{Box: w.cage.Box, Setting: w.cage.Setting, Wanted: func() bool { return true }}
	options := lsp.Options{
		Root: dir, Languages: languages, Env: env, Supervisor: proc.Supervisor{Ledger: w.ledger, Cage: cage}, Inside: s.config.Languages.Use != config.LanguagesOn,
		Allows: func(sdk lsp.SDK) bool { return project.Allows(sdkItem(sdk)) },
		Withheld: func(path string) bool {
			held := w.gate.Sieve(dir)
			return held != nil && held(filepath.Dir(path)+"/", filepath.Base(path))
		},
	}
	if options.Inside {
		options.Refuses = func() error {
			if cage.Full() {
				return nil
			}
			return errors.New("it runs in a full sandbox only, and there is none here; language_servers.use \"on\" lets it run without")
		}
	}
	if s.hide != nil {
		options.Mask = func(text string) string { return s.hide().Text(text) }
	}
	servers := lsp.New(options)
	w.closers, w.code = append(w.closers, servers.Close), servers
	return servers
}

// languages are those that the workspace seems to have files of, and the environment of their
// servers.
func (s settings) languages() ([]lsp.Language, []string) {
	dir := s.root.Dir()
	env := s.cleanEnv(dir)
	return lsp.Of(dir, configured(s.config.Languages.Servers), env), env
}

// sdks are what of the project language servers would run if the user allowed it.
func (s settings) sdks() (out []trust.Item) {
	languages, env := s.languages()
	for _, sdk := range lsp.SDKs(s.root.Dir(), languages, env) {
		out = append(out, sdkItem(sdk))
	}
	return out
}

// sdkItem is code of a project as the user is asked about it.
func sdkItem(sdk lsp.SDK) trust.Item {
	i := trust.Item{ID: sdk.Name, From: ".", Argv: sdk.Argv, Raw: sdk.Manifest, Means: sdk.Means, Problem: sdk.Problem, When: "a file of its language is changed (" + sdk.Server + ")"}
	for _, path := range sdk.Files {
		i.Files = append(i.Files, trust.Pinned{Path: path})
	}
	return i
}

// codeWait and codeWaitAlone are how long the end of an answer waits for what language servers have
// not said yet: before the user, who is told it with the next prompt else, and without, where
// nothing follows. A cold server reads the project first.
const (
	codeWait      = 5 * time.Second
	codeWaitAlone = 15 * time.Second
)

// codeNotes tells the model what language servers said of changes when the calls that made them had
// been answered.
func (w *wired) codeNotes(holds bool) (out []session.Note) {
	found := w.code.Late()
	if len(found) == 0 {
		return nil
	}
	text := lsp.LateText(found, func(abs string) string {
		if rel, inside := w.settings.root.Inside(abs); inside {
			return rel
		}
		return abs
	})
	clean := !slices.ContainsFunc(found, func(f lsp.Findings) bool { return !f.Clean() })
	return []session.Note{{Kind: session.CodeNote, From: "language servers", Text: text, Holds: holds && !clean}}
}

// tellCode has what language servers find told with the results that follow, and before an answer
// ends.
func (w *wired) tellCode(c *session.Config, print bool) {
	if w.code == nil {
		return
	}
	limit := codeWait
	if print {
		limit = codeWaitAlone
	}
	notes, await := c.Notes, c.Await
	c.Notes = func(ctx context.Context, s session.Step) (out []session.Note) {
		if notes != nil {
			out = notes(ctx, s)
		}
		return append(out, w.codeNotes(false)...)
	}
	c.Await = func(ctx context.Context) bool {
		wait, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if w.code.Await(wait) {
			for _, n := range w.codeNotes(true) {
				w.session.Note(n)
				if n.Holds {
					return true
				}
			}
		}
		if n := w.code.Missing(); n > 0 && ctx.Err() == nil {
			w.menu.Notice("not checked yet: " + plural.Of(n, "edit") + "; the language server has not answered")
		}
		return await != nil && await(ctx)
	}
}

// formatters are those of the user's configuration.
func (s settings) formatters(o *options, w *wired) *formatter.Formatters {
	if len(s.config.Formatters) == 0 || o.demo {
		return nil
	}
	dir := s.root.Dir()
	f := &formatter.Formatters{Dir: dir, Supervisor: proc.Supervisor{Ledger: w.ledger, Cage: w.cage, Spare: w.spare, Watch: w.writers.Watch(s.root.Dir()), Live: w.live}, Env: s.cleanEnv(dir)}
	for _, name := range slices.Sorted(maps.Keys(s.config.Formatters)) {
		one := s.config.Formatters[name]
		f.All = append(f.All, formatter.Formatter{Name: name, Files: one.Files, Command: one.Command, May: w.mayTake(s, trust.Formatter, name, one.Command, "")})
	}
	return f
}

// cleanEnv is the environment of programs that are found outside of the workspace.
func (s settings) cleanEnv(dir string) []string {
	return proc.Outside(proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment, Secrets: models.KeyNames(s.config)}), dir)
}

// configured are the servers as the user has changed and added to them.
func configured(own map[string]config.LanguageServer) (out []lsp.Language) {
	known := lsp.Known()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.ContainsFunc(known, func(l lsp.Language) bool { return l.Name == name }) {
			known = append(known, lsp.Language{Name: name})
		}
	}
	for _, l := range known {
		c, said := own[l.Name]
		if c.Off {
			continue
		}
		if said {
			l.Init = c.Options
		}
		if len(c.Command) > 0 {
			l.Command = c.Command
		}
		if len(c.Files) > 0 {
			l.Files = c.Files
		}
		if len(c.Markers) > 0 {
			l.Markers = c.Markers
		}
		if len(l.Command) > 0 && len(l.Files) > 0 {
			out = append(out, l)
		}
	}
	return out
}
