package models

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/llm/script"
)

func TestATitleIsOneShortLine(t *testing.T) {
	for said, want := range map[string]string{
		"Fixing the parser":                      "Fixing the parser",
		"\"Fixing the parser.\"\n":               "Fixing the parser",
		"Sure!\n\nTitle: **Fixing  the parser**": "Fixing the parser",
		"## Der Parser, zweiter Versuch":         "Der Parser, zweiter Versuch",
		strings.Repeat("word ", 40):              strings.Repeat("word ", 11) + "word…",
		"\x1b[31m":                               "\x1b[31m", // what is shown is made safe where it is shown
		" \n\"\"\n":                              "",
	} {
		if got := titleIn(said); got != want {
			t.Errorf("%q gave %q, want %q", said, got, want)
		}
	}
	p := script.New(script.Options{Name: "t", Script: []byte("-- 1 --\nexpect prompt: why is it slow\ntext: Slow start\n")})
	m := Model{Provider: p, Name: "t"}
	title, _, err := m.Title(t.Context(), "why is it slow?", strings.Repeat("because ", 1000))
	if err != nil || title != "Slow start" {
		t.Errorf("%q, %v", title, err)
	}
	if _, _, err := m.Title(t.Context(), "why is it slow?", ""); err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("a model that fails: %v", err)
	}
}
