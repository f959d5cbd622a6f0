package settings

import (
	"maps"
	"os"
	"slices"

	"adze/internal/config"
	"adze/internal/editors/lsp"
	"adze/internal/llm/models"
	"adze/internal/project/trust"
	"adze/internal/sandbox/proc"
)

// UseLanguageServers reports whether servers may check a run's edits. By default they may in a
// terminal.
func (s *Settings) UseLanguageServers() bool {
	o := &s.Request
	use := s.Config.Languages.Use
	return use != config.LanguagesOff && !o.Demo && (use == config.LanguagesOn || !o.Bare && !o.Print && o.ByHand == nil)
}

// Languages returns the languages that the workspace seems to use, and their servers' environment.
func (s *Settings) Languages() ([]lsp.Language, []string) {
	dir := s.Root.Dir()
	env := s.CleanEnv(dir)
	return lsp.ForFolder(dir, Configured(s.Config.Languages.Servers), env), env
}

// sdks returns the project code that language servers would run with the user's consent.
func (s *Settings) sdks() (out []trust.Item) {
	languages, env := s.Languages()
	for _, sdk := range lsp.SDKs(s.Root.Dir(), languages, env) {
		out = append(out, SDKItem(sdk))
	}
	return out
}

// SDKItem converts project code to an item for the user's consent.
func SDKItem(sdk lsp.SDK) trust.Item {
	i := trust.Item{ID: sdk.Name, Source: ".", Argv: sdk.Argv, Raw: sdk.Manifest, Definition: sdk.Effect, Problem: sdk.Problem, Trigger: "a file of its language is changed (" + sdk.Server + ")"}
	for _, path := range sdk.Files {
		i.Files = append(i.Files, trust.Pinned{Path: path})
	}
	return i
}

// CleanEnv returns the environment for programs from outside the workspace.
func (s *Settings) CleanEnv(dir string) []string {
	return proc.WithoutPathsIn(proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.Config.Environment, Secrets: models.KeyNames(s.Config)}), dir)
}

// Configured returns the language servers with the user's changes and additions.
func Configured(own map[string]config.LanguageServer) (out []lsp.Language) {
	known := lsp.KnownLanguages()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.ContainsFunc(known, func(l lsp.Language) bool { return l.Name == name }) {
			known = append(known, lsp.Language{Name: name})
		}
	}
	for _, l := range known {
		c, said := own[l.Name]
		if c.Disabled {
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
		if len(l.Command) > 0 && len(l.Files) > 0 {
			out = append(out, l)
		}
	}
	return out
}
