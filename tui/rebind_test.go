package tui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"adze/tui/firstrun"
	"adze/tui/ui"
)

// actions are the ids of the key table, in order.
func actions() (ids []string) {
	rows, _ := KeyTable(nil)
	for _, r := range rows {
		ids = append(ids, r[0])
	}
	return ids
}

// pressed is a key as the terminal's reader hands it on.
func pressed(t *testing.T, name string) tea.KeyPressMsg {
	if strings.HasPrefix(name, "ctrl+alt+") {
		return tea.KeyPressMsg{Code: []rune(strings.TrimPrefix(name, "ctrl+alt+"))[0], Mod: tea.ModCtrl | tea.ModAlt}
	}
	if n := 0; strings.Contains(name, "f") {
		mod, f, _ := strings.Cut(name, "+")
		if f == "" {
			mod, f = "", mod
		}
		if _, err := fmt.Sscanf(f, "f%d", &n); err == nil {
			k := tea.KeyPressMsg{Code: tea.KeyF1 + rune(n) - 1, Mod: map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]}
			if k.String() != name {
				t.Fatalf("key %q comes out as %q", name, k)
			}
			return k
		}
	}
	return keyPress(t, name)
}

// TestEveryActionHasOneName: two rows of a context with the same id could not have keys of their
// own.
func TestEveryActionHasOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bare().bindings() {
		at := fmt.Sprint(b.scope, b.id)
		if b.id == "" && b.run != nil || b.id != "" && seen[at] {
			t.Errorf("%s, %q: %q", b.Keys(), b.Help().Desc, b.id)
		}
		seen[at] = true
	}
}

// TestEveryActionCanBeRebound binds each to a key of its own and presses that where the action is:
// it acts, and the key that it had does not any more.
func TestEveryActionCanBeRebound(t *testing.T) {
	at := map[scope]*player{}
	for _, s := range append(places(), place{name: "an inquiry", steps: []string{inquiryStep, "wait 1s"}}, place{name: "a key", steps: []string{"first"}}) {
		p := s.arrive(t, false)
		if s.name == "a key" {
			p.m.first.screen.Ask(firstrun.KeyOf{Provider: "anthropic"})
		}
		at[p.m.scope()] = p
	}
	for _, id := range actions() {
		k, warnings := newKeymap(bare().bindings(), map[string][]string{id: {"F12"}})
		if warnings != nil {
			t.Errorf("%s: %q", id, warnings)
			continue
		}
		var did *binding
		for i := range k.table {
			b := &k.table[i]
			b.can, b.run = nil, func() tea.Cmd { did = b; return nil }
		}
		before := bare().bindings()
		for i := range k.table {
			b := &k.table[i]
			if b.id != id {
				continue
			}
			p := at[b.scope]
			if p == nil {
				t.Fatalf("no place has the keys of %s", id)
			}
			p.m.keys, did = k, nil
			if p.send(pressed(t, "f12")); did != b {
				t.Errorf("%s, at %d: F12 does not do it", id, b.scope)
			}
			for _, old := range before[i].Keys() {
				if f, _ := k.find(b.scope, old); f != nil && f.id == id {
					t.Errorf("%s: %s acts still", id, old)
				}
			}
		}
	}
}

const inquiryStep = `asks {"question":"Which one?","choices":["a","b"]}`

// allBound gives each action a key that nothing has.
func allBound() map[string][]string {
	var keys []string
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		keys = append(keys, "ctrl+alt+"+string(r))
	}
	for _, mod := range []string{"alt", "ctrl", "shift", "ctrl+alt", "ctrl+shift"} {
		for n := 1; n <= 20; n++ {
			keys = append(keys, fmt.Sprintf("%s+f%d", mod, n))
		}
	}
	out := map[string][]string{}
	for i, id := range actions() {
		out[id] = keys[i : i+1]
	}
	return out
}

// pressAs presses what a default key stands for.
func (p *player) pressAs(t *testing.T, key string) {
	usual, _ := newKeymap(p.m.bindings(), nil)
	if b, _ := usual.find(p.m.scope(), key); b != nil && b.id != "" {
		for i := range p.m.keys.table {
			if own := &p.m.keys.table[i]; own.id == b.id && own.scope == b.scope {
				key = own.Keys()[0]
			}
		}
	}
	p.send(pressed(t, key))
}

// TestEveryHintNamesTheBoundKey binds every action elsewhere and goes everywhere: no key is named
// that it was before.
func TestEveryHintNamesTheBoundKey(t *testing.T) {
	stale := regexp.MustCompile(`(?i)(^|[^+\w/])(F[1-9]|ctrl\+[a-z]|shift\+tab|enter|esc|tab|PgUp|PgDn|up|↑|↓|[ysaned] (once|session|this session|always|no|copies|demo|the diff)|q quits|r looks)([^+\w]|$)`)
	for _, s := range append(places(), place{name: "an inquiry", steps: []string{inquiryStep, "wait 1s"}}, place{name: "jobs", steps: []string{"ports", `jobs [{"ID":"j1","Command":"make"}]`, "key f7"}}) {
		p := boundPlayer(t, nil, allBound())
		if len(p.m.info.Notices) > 0 {
			t.Fatalf("%q", p.m.info.Notices)
		}
		p.step("size", "200x60")
		for _, step := range s.steps {
			if keys, ok := strings.CutPrefix(step, "key "); ok {
				for k := range strings.FieldsSeq(keys) {
					p.pressAs(t, k)
				}
				continue
			}
			place{steps: []string{step}}.goThere(p)
		}
		for line := range strings.SplitSeq(p.dump(), "\n") {
			if s.name == "help" || !stale.MatchString(line) { // help is the table itself, and says up in words
				continue
			}
			t.Errorf("%s: %s", s.name, line)
		}
	}
}

// TestNoTwoActionsShareABoundKey binds at random: where two rows of a context share a key, they did
// so from the start.
func TestNoTwoActionsShareABoundKey(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 7))
	ids, before := actions(), bare().bindings()
	var keys []string
	for _, b := range before {
		keys = append(keys, b.Keys()...)
	}
	keys = append(keys, "f11", "f12", "ctrl+q")
	dropped, kept := 0, 0
	for range 200 {
		bound := map[string][]string{}
		for range 1 + rnd.IntN(8) {
			bound[ids[rnd.IntN(len(ids))]] = []string{keys[rnd.IntN(len(keys))]}
		}
		k, warnings := newKeymap(bare().bindings(), bound)
		dropped, kept = dropped+len(warnings), kept+len(bound)-len(warnings)
		for i := range k.table {
			for j := range i {
				a, b := &k.table[i], &k.table[j]
				if a.scope != b.scope || (a.part == completing) != (b.part == completing) || common(before[i].Keys(), before[j].Keys()) != "" {
					continue
				}
				if key := common(a.Keys(), b.Keys()); key != "" {
					t.Fatalf("%v: %s and %s share %s", bound, a.id, b.id, key)
				}
			}
		}
		for i := range k.table {
			b := &k.table[i]
			if changed := !slices.Equal(b.Keys(), before[i].Keys()); changed && b.scope.writes() && slices.ContainsFunc(b.Keys(), ui.Writes) {
				t.Fatalf("%v: %s is %s, which writes", bound, b.id, b.Keys())
			}
		}
	}
	if dropped == 0 || kept == 0 {
		t.Errorf("%d dropped, %d kept", dropped, kept)
	}
}

func TestWhatCannotBeBoundIsTold(t *testing.T) {
	for _, c := range []struct{ id, key, want string }{
		{"tods", "f8", `keys: there is no action "tods"; did you mean todos?`},
		{"", "f8", `keys: there is no action ""; adze help keys lists them`},
		{"todos", "ctrl+entr", `keys: todos: there is no key "ctrl+entr"; did you mean enter?`},
		{"todos", "hyperdrive", `keys: todos: there is no key "hyperdrive"; keys are such as ctrl+k, alt+enter, f8, pgup`},
		{"todos", "t", `keys: todos: t is written where this acts; hold ctrl or alt with it, or take a key such as f8`},
		{"todos", "ctrl+k", `keys: todos and edit.delete-to-end cannot both be ctrl+k; todos stays ctrl+t`},
		{"todos", "ctrl+m", `keys: todos: a terminal sends enter for ctrl+m`},
		{"dialog.once", "enter", `keys: dialog.once cannot be enter, which not an answer: too easy to press by accident`},
		{"todos", "F8", ""}, {"todos", "Ctrl-Q", ""}, {"dialog.once", "j", ""}, {"page-up", "Alt+PageUp", ""},
	} {
		k, warnings := newKeymap(bare().bindings(), map[string][]string{c.id: {c.key}})
		if got := strings.Join(warnings, "|"); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.id, c.key, got, c.want)
		}
		for i, b := range bare().bindings() {
			if c.want != "" && !slices.Equal(b.Keys(), k.table[i].Keys()) {
				t.Errorf("%s %s: %s lost %s", c.id, c.key, b.id, b.Keys())
			}
		}
	}
}

// TestKeysAreReadAsTheyAreWritten: each of the table is itself, and is what the reader of the
// terminal calls it.
func TestKeysAreReadAsTheyAreWritten(t *testing.T) {
	for _, b := range bare().bindings() {
		for _, key := range b.Keys() {
			if got, err := ui.ParseKey(key); got != key || err != nil {
				t.Errorf("%q is %q, %v", key, got, err)
			}
		}
	}
	for written, want := range map[string]string{"Ctrl+Shift+K": "ctrl+shift+k", "shift-alt-Ctrl-x": "ctrl+alt+shift+x", "Escape": "esc", "shift+g": "G", "G": "G", "+": "+", "ctrl++": "ctrl++", "-": "-",
		"Option-Return": "alt+enter", "F20": "f20", "PageDown": "pgdown", " f8 ": "f8", "ctrl+space": "ctrl+space",
		"": "", "f21": "", "f08": "", "ctrl": "", "ctrl+": "", "ctlr+k": "", "ctrl+i": "", "ab": "", "\x1b": "", "ctrl+ctrl": "", "\xff": ""} {
		if got, err := ui.ParseKey(written); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", written, got, err, want)
		}
	}
}
