package tui

import (
	"slices"
	"strings"
	"testing"
)

// Every pane and list has a key and a slash command, one of each: a user who does not know the
// key finds the command, and the other way round.
func TestPanesHaveAKeyAndACommand(t *testing.T) {
	m := bare()
	pairs := map[string]string{"f1": "help", "f2": "sessions", "f3": "changes", "ctrl+t": "todos", "shift+tab": "mode"}
	var named []string
	for _, c := range m.commands() {
		named = append(named, c.name)
	}
	keys := map[string]bool{}
	for _, b := range m.bindings() {
		if b.scope != inPrompt {
			continue
		}
		for _, k := range b.Keys() {
			keys[k] = true
			if strings.HasPrefix(k, "f") && len(k) > 1 && pairs[k] == "" {
				t.Errorf("%s (%s) has no command", k, b.Help().Desc)
			}
		}
		if b.part == panes && !slices.ContainsFunc(b.Keys(), func(k string) bool { return pairs[k] != "" }) {
			t.Errorf("the pane %q (%v) has no command", b.id, b.Keys())
		}
	}
	for k, name := range pairs {
		if !keys[k] || !slices.Contains(named, name) {
			t.Errorf("%s and /%s: one of them is missing", k, name)
		}
	}
}

// The key of a pane and its command open the same: the same screen is drawn.
func TestKeyAndCommandOpenTheSame(t *testing.T) {
	for key, name := range map[string]string{"f2": "sessions", "f3": "changes"} {
		screen := func(open func(p *player)) string {
			p := newPlayer(t, nil)
			p.step("size", "100x30")
			p.step("ports", "")
			open(p)
			p.m.prompt.Clear()
			p.m.showMessage("")
			return p.shown()
		}
		byKey := screen(func(p *player) { p.step("key", key) })
		byName := screen(func(p *player) { p.step("type", "/"+name); p.step("key", "esc enter") })
		if byKey != byName {
			t.Errorf("%s and /%s differ:\n%s\n---\n%s", key, name, byKey, byName)
		}
	}
}

// No letter behind the key of a pane is lost: those before it opens are in the prompt, and it does
// not open over them; one that means nothing there closes it.
func TestLettersBehindAPaneAreKept(t *testing.T) {
	p := newPlayer(t, nil)
	p.step("ports", "")
	_, compare := p.m.Update(keyPress(t, "f3"))
	p.step("type", "raise it")
	p.run(compare)
	if p.m.view.Open() || p.m.prompt.Text != "raise it" || !strings.Contains(p.shown(), "F3 shows them") {
		t.Errorf("before it opens:\n%s", p.shown())
	}
	p.step("key", "f3")
	p.step("type", "j, twice")
	if p.m.view.Open() || p.m.prompt.Text != "raise it, twice" {
		t.Errorf("when it is open:\n%s", p.shown())
	}
}
