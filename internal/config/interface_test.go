package config_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"adze/internal/config"
)

func TestTheInterfaceIsSet(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"interface": {"theme": "light", "inline": true}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Interface.Theme != "light" || !c.Interface.Inline || c.Origin("interface") != "c.json" {
		t.Errorf("interface = %+v from %s", c.Interface, c.Origin("interface"))
	}
}

func TestAnInterfaceThatIsNoneIsAMistake(t *testing.T) {
	for text, want := range map[string]string{
		`{"interface": {"theme": "solarised"}}`: `interface.theme is "solarised"`,
		`{"interface": {"inline": "yes"}}`:      "interface.inline must be true or false, is string",
		`{"interface": {"keys": "emacs"}}`:      `interface.keys is "emacs"`,
	} {
		_, err := config.Parse("c.json", []byte(text))
		var mistake *config.Error
		if !errors.As(err, &mistake) || mistake.Hint == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestSchemaKnowsTheNames keeps the published names and those that are obeyed together.
func TestSchemaKnowsTheNames(t *testing.T) {
	var schema struct {
		Properties struct {
			Interface struct {
				Properties struct {
					Theme struct {
						Enum []string `json:"enum"`
					} `json:"theme"`
					Keys struct {
						Enum []string `json:"enum"`
					} `json:"keys"`
				} `json:"properties"`
			} `json:"interface"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(published(t), &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Properties.Interface.Properties.Theme.Enum; !slices.Equal(got, config.Themes()) {
		t.Errorf("schema %v, obeyed %v", got, config.Themes())
	}
	if got := schema.Properties.Interface.Properties.Keys.Enum; !slices.Equal(got, config.Keys()) {
		t.Errorf("schema %v, obeyed %v", got, config.Keys())
	}
}

// TestKeysAreBoundByAction: one key or several, beside comments; names of actions are the
// interface's to judge.
func TestKeysAreBoundByAction(t *testing.T) {
	c, err := config.Parse("c.json", []byte(`{"keys": {"todos": "f8", /* two */ "quit": ["ctrl+q", "f10"],}}`))
	if got := c.BoundKeys(); err != nil || len(c.Warnings()) > 0 || len(got) != 2 || !slices.Equal(got["todos"], []string{"f8"}) || !slices.Equal(got["quit"], []string{"ctrl+q", "f10"}) {
		t.Errorf("%v, %v, %q", got, err, c.Warnings())
	}
	if c, _ := config.Parse("c.json", []byte(`{}`)); len(c.BoundKeys()) > 0 {
		t.Error("no key is bound")
	}
	for _, text := range []string{`{"keys": {"todos": 8}}`, `{"keys": ["f8"]}`, `{"keys": {"todos": ["f8", null, 1]}}`} {
		if _, err := config.Parse("c.json", []byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
