package config_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/config"
)

func TestAnUnknownNameIsAWarning(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"modle\": \"openai/m\"}":                       "line 2: modle is not known; did you mean model?",
		`{"interface": {"theem": "dark"}}`:                  "interface.theem is not known; did you mean interface.theme?",
		`{"models": {"a/b": {"prize": {}}}}`:                "models.a/b.prize is not known; did you mean models.a/b.price?",
		`{"providers": {"openai": {"key": "sk-1"}}}`:        "providers.openai.key is not known: a key does not belong in this file; adze models login keeps one",
		`{"providers": {"openai": {"api_key": "sk-1"}}}`:    "adze models login keeps one",
		`{"mcpServers": {"a": {"command": "a"}}}`:           `mcpServers is not known: servers belong in "mcp": {"servers": {…}}`,
		`{"mcp": {"a": {"command": "a"}}}`:                  `mcp.a is not known: servers belong in "mcp": {"servers": {…}}`,
		`{"theme": "dark"}`:                                 "theme is not known: that is interface.theme",
		`{"small_model": "openai/m"}`:                       "small_model is not known: that is title_model",
		`{"interface": {"hooks": []}}`:                      "interface.hooks is not known",
		`{"somethingOfAnother": {"tool": ["it", "knows"]}}`: "somethingOfAnother is not known",
	} {
		c, err := config.Parse("c.json", []byte(text))
		if err != nil || len(c.Warnings()) != 1 || !strings.HasSuffix(c.Warnings()[0], want) && !strings.Contains(c.Warnings()[0], want) {
			t.Errorf("%s: %q, %v; want %q", text, c.Warnings(), err, want)
		}
		if strings.Contains(strings.Join(c.Warnings(), ""), "sk-1") {
			t.Errorf("the warning shows a key: %q", c.Warnings())
		}
	}
}

// What else stands in a file with an unknown name holds.
func TestAnUnknownNameTakesNothingElseAlong(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"unknown": {"deny": []}, "deny": ["execute(rm **)"], "model": "openai/m"}`))
	if err != nil || c.Model != "openai/m" || !slices.Equal(c.Deny, []string{"execute(rm **)"}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A setting that went is told once by its name, with what serves instead; one of the last release
// still holds.
func TestASettingThatWentIsToldOnce(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"mcp": {"idle": "5m"}, "sessions": {"keep": {"count": 2}}, "undo": {"total_mb": 5}, "tools": {"offer_above": 5}}`))
	if err != nil || c.Sessions.Keep.Count != 2 || c.Tools.OfferAbove != 5 || len(c.Warnings()) > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	file := filepath.Join(t.TempDir(), "state", "retired.txt")
	told := strings.Join(config.AppendNew(file, c.Retired()), "\n")
	for _, want := range []string{"c.json: mcp.idle is gone: a server stops after", "undo.total_mb is gone: files up to 64 MiB", "sessions.keep.count holds in this release only: sessions.keep.days", "tools holds in this release only: up to 22"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %q", want, told)
		}
	}
	if again := config.AppendNew(file, append(c.Retired(), "one more")); !slices.Equal(again, []string{"one more"}) {
		t.Errorf("told again: %q", again)
	}
}

func TestAFileWithNothingInItIsAnEmptyOne(t *testing.T) {
	for _, text := range []string{"", "\n \t\r\n", "\xef\xbb\xbf", "// nothing yet", "/* nothing\n{ yet } */\n", "null", "{}"} {
		if c, err := config.Parse("c.json", []byte(text)); err != nil || c.Model != "" || len(c.Warnings()) > 0 {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	c, err := config.Parse("c.json", []byte("\xef\xbb\xbf{\"model\": \"openai/m\"}"))
	if err != nil || c.Model != "openai/m" {
		t.Errorf("behind a byte order mark: %+v, %v", c, err)
	}
}

// Rules and modes of other assistants stand in one object; what they forbid is not lost in silence,
// and it is said where it belongs.
func TestRulesOfAnotherAssistantAreToldWhereTheyBelong(t *testing.T) {
	for _, name := range []string{"permissions", "permission", "Permissions"} {
		_, err := config.Parse("c.json", []byte(`{"`+name+`": {"deny": ["Bash(rm:*)"]}}`))
		var told *config.Error
		if !errors.As(err, &told) || !strings.Contains(told.Hint, `"allow", "ask" and "deny"`) || !strings.Contains(told.Hint, `"permission_mode"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := config.Parse("c.json", []byte(`{"permision_mode": "plan"}`))
	var told *config.Error
	if !errors.As(err, &told) || told.Hint != "did you mean permission_mode?" {
		t.Errorf("a misspelt mode: %v", err)
	}
}
