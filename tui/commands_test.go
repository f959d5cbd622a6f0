package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"adze/session/api"
	"adze/tui/plain"
)

func TestWhatIsACommand(t *testing.T) {
	for text, want := range map[string]string{
		"/help": "help|", " /model a/b ": "model|a/b", "/etc/hosts": "", "/": "", "help": "", "/a\n/b": "", "/copy  code": "copy|code",
	} {
		name, arg, ok := plain.Slash(text)
		got := ""
		if ok {
			got = name + "|" + arg
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestNamesMayBeShortened(t *testing.T) {
	names := []string{"model", "mode", "new"}
	for arg, want := range map[string]string{"n": "new", "mode": "mode", "model": "model", "mod": "", "x": "", "": ""} {
		if got, _ := named(arg, names); got != want {
			t.Errorf("%q means %q, want %q", arg, got, want)
		}
	}
}

// TestEveryCommandIsToldOf: a command without help or with a name that hides another cannot be
// found.
func TestEveryCommandIsToldOf(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range bare().commands() {
		if c.help == "" || c.run == nil || seen[c.name] {
			t.Errorf("command %q", c.name)
		}
		seen[c.name] = true
	}
	for _, b := range bare().bindings() {
		if b.Help().Desc == "" || b.run == nil && b.can == nil || len(b.Keys()) == 0 {
			t.Errorf("binding %+v", b.Keys())
		}
	}
}

// TestACommandIsWhatItIsCalled writes every command and every beginning of one, and presses enter
// on what is offered: a whole name is that command, and a beginning one of those that it begins.
func TestACommandIsWhatItIsCalled(t *testing.T) {
	for _, c := range bare().commands() {
		for n := 1; n <= len(c.name) && !c.hidden; n++ {
			written := c.name[:n]
			p := newPlayer(t, nil)
			*p.m.ports = p.ports()
			p.step("user", "hello")
			p.step("type", "/"+written)
			p.step("key", "enter")
			got := p.m.prompt.Text // a command that cannot be done now stays there
			if done := p.m.prompt.Recent(); strings.HasPrefix(done[0], "/") {
				got = done[0]
			}
			got = strings.TrimPrefix(got, "/")
			whole, isWhole := named(written, bare().commander.names())
			if isWhole && whole == written && got != written || !strings.HasPrefix(got, written) {
				t.Errorf("/%s is %q", written, got)
			}
		}
	}
}

// A model that is none is told before anything is asked about it, and a file that is missing is
// called missing.
func TestWhatIsNotThereIsToldFirst(t *testing.T) {
	p := newPlayer(t, nil)
	*p.m.ports = p.ports()
	p.m.ports.CheckModel = func(name string) error { return errors.New("there is no provider " + name) }
	p.m.ports.Keep, p.m.ports.CurrentValue = func(string, string) error { return nil }, func(string) string { return "" }
	p.step("type", "/model nosuch/x")
	p.step("key", "enter")
	if p.m.picker.Open || !strings.Contains(p.dump(), "there is no provider nosuch/x") {
		t.Errorf("it is asked about:\n%s", p.dump())
	}
	p.m.ports.Drop = func(string) (api.Dropped, bool) { return api.Dropped{}, false }
	p.m.prompt.Set("")
	p.step("type", "/attach none.png")
	p.step("key", "enter")
	if !strings.Contains(p.dump(), "none.png was not found") {
		t.Errorf("a missing file:\n%s", p.dump())
	}
}

// TestEveryCommandHasItsPlace: a feature's command that the order does not name would stand before
// all others, and a name that no feature has is a command that was lost.
func TestEveryCommandHasItsPlace(t *testing.T) {
	if got := bare().commander.names(); !slices.Equal(got, inOrder()) {
		t.Errorf("the features have the commands %v\nthe order is %v", got, inOrder())
	}
}
