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

// UseLanguageServers reports whether servers may check the edits of a run. Without a word of the
// user's they may for who sits before a terminal.
func (s *Settings) UseLanguageServers() bool {
	o := &s.Request
	use := s.Config.Languages.Use
	return use != config.LanguagesOff && !o.Bare && !o.Demo && o.ByHand == nil && (use == config.LanguagesOn || !o.Print)
}

// Languages are those that the workspace seems to have files of, and the environment of their
// servers.
func (s *Settings) Languages() ([]lsp.Language, []string) {
	dir := s.Root.Dir()
	env := s.CleanEnv(dir)
	return lsp.Of(dir, Configured(s.Config.Languages.Servers), env), env
}

// sdks are what of the project language servers would run if the user allowed it.
func (s *Settings) sdks() (out []trust.Item) {
	languages, env := s.Languages()
	for _, sdk := range lsp.SDKs(s.Root.Dir(), languages, env) {
		out = append(out, SDKItem(sdk))
	}
	return out
}

// SDKItem is code of a project as the user is asked about it.
func SDKItem(sdk lsp.SDK) trust.Item {
	i := trust.Item{ID: sdk.Name, From: ".", Argv: sdk.Argv, Raw: sdk.Manifest, Means: sdk.Means, Problem: sdk.Problem, When: "a file of its language is changed (" + sdk.Server + ")"}
	for _, path := range sdk.Files {
		i.Files = append(i.Files, trust.Pinned{Path: path})
	}
	return i
}

// CleanEnv is the environment of programs that are found outside of the workspace.
func (s *Settings) CleanEnv(dir string) []string {
	return proc.Outside(proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.Config.Environment, Secrets: models.KeyNames(s.Config)}), dir)
}

// Configured are the servers as the user has changed and added to them.
func Configured(own map[string]config.LanguageServer) (out []lsp.Language) {
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
		if len(l.Command) > 0 && len(l.Files) > 0 {
			out = append(out, l)
		}
	}
	return out
}
