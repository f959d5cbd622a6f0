package app

import (
	"errors"
	"maps"
	"os"
	"slices"

	"adze/internal/config"
	"adze/internal/format"
	"adze/internal/lsp"
	"adze/internal/models"
	"adze/internal/proc"
)

// languageServers are those that may check the edits of a run; nil: none. Without a word of the
// person's they are for who sits before a terminal, in a project of theirs, and they run in the
// sandbox only: a server runs what the project says.
func (s settings) languageServers(o *options, w *wired) *lsp.Servers {
	c := s.config.Languages
	if c.Use == config.LanguagesOff || o.bare || o.demo || o.byHand != nil || c.Use != config.LanguagesOn && o.print {
		return nil
	}
	dir := s.root.Dir()
	env := s.cleanEnv(dir)
	languages := lsp.Of(dir, configured(c.Servers), env)
	if len(languages) == 0 {
		return nil
	}
	options := lsp.Options{Root: dir, Languages: languages, Env: env, Supervisor: proc.Supervisor{Ledger: w.ledger, Cage: w.cage}, Inside: c.Use != config.LanguagesOn}
	if options.Inside {
		options.Holds = func(lsp.Language) error {
			if w.cage.Full() {
				return nil
			}
			return errors.New("it runs in a full sandbox only, and there is none here; language_servers.use \"on\" lets it run without")
		}
	}
	if s.hide != nil {
		options.Mask = func(text string) string { return s.hide().Text(text) }
	}
	servers := lsp.New(options)
	w.closers = append(w.closers, servers.Close)
	return servers
}

// formatters are those of the user's configuration.
func (s settings) formatters(o *options, w *wired) *format.Formatters {
	if len(s.config.Formatters) == 0 || o.demo {
		return nil
	}
	dir := s.root.Dir()
	f := &format.Formatters{Dir: dir, Supervisor: proc.Supervisor{Ledger: w.ledger, Cage: w.cage, Spare: w.spare, Watch: w.writers.Watch(s.root.Dir()), Live: w.live}, Env: s.cleanEnv(dir)}
	for _, name := range slices.Sorted(maps.Keys(s.config.Formatters)) {
		one := s.config.Formatters[name]
		f.All = append(f.All, format.Formatter{Name: name, Files: one.Files, Command: one.Command})
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
