package settings

import (
	"fmt"
	"testing"

	"adze/internal/config"
	"adze/internal/editors/lsp"
)

// TestKnownServersNeedNoCommand: the configuration knows the servers that there are, so that one
// may be given options, or be switched off, by its name alone.
func TestKnownServersNeedNoCommand(t *testing.T) {
	for _, l := range lsp.KnownLanguages() {
		text := fmt.Sprintf(`{"language_servers": {"servers": {%q: {"options": {"a": 1}}}}}`, l.Name)
		c, err := config.Parse("c.json", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		for _, got := range Configured(c.Languages.Servers) {
			if got.Name == l.Name && (string(got.Init) != `{"a": 1}` || len(got.Command) == 0 || len(got.Files) == 0) {
				t.Errorf("%+v", got)
			}
		}
	}
}

// TestLanguageServersThatAreOn holds that "on" is always, also in a call by hand, whose tools
// "adze tools list" shows.
func TestLanguageServersThatAreOn(t *testing.T) {
	for use, want := range map[string]bool{config.LanguagesOn: true, config.LanguagesOff: false, "": false} {
		s := &Settings{}
		s.Config.Languages.Use, s.Request.Bare = use, true
		if got := s.UseLanguageServers(); got != want {
			t.Errorf("%q: %v, want %v", use, got, want)
		}
	}
}
