package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"adze/tui/firstrun"
)

// place is something that can be on the screen, and what of it must be seen at any size.
type place struct {
	name  string
	steps []string
	needs []string
	over  bool // in place of the conversation
}

const asks = `permission {"tool":"bash","needs":[{"permission":"execute","target":"go test ./... && echo a long command that goes on and on, for more rows than there are in a small window, and then some more of it"}],"rule":"allow execute(go test **)","covers":"go test with any arguments","spares":"other programs","save":"/home/ann/.config/adze/config.json","why":"no rule allows go test"}`

const asksHunks = `permission {"tool":"edit","hunks":true,"needs":[{"permission":"write","target":"a.go"}],"preview":[{"kind":"diff","path":"a.go","text":"@@ -1,2 +1,2 @@\n-one\n+two\n same\n@@ -10 +10 @@\n-ten\n+eleven\n"}]}`

// places are all of them.
func places() []place {
	keys := []string{"y yes", "a all", "n no", "esc stop"}
	talk := []string{"user hello", `text m1 "An answer that is a little longer than a narrow window is wide, so that it goes on."`,
		`end {"call":"c0","tool":"edit","status":"completed","changed":["a.go"],"metadata":{"blocks":[{"kind":"diff","path":"a.go","text":"@@ -1 +1 @@\n-a\n+b\n"}]}}`}
	with := func(steps ...string) []string { return append(append([]string{"ports"}, talk...), steps...) }
	return []place{
		{"the welcome", nil, []string{"❯ Ask", "F1: keys"}, false},
		{"a conversation", with(), []string{"❯ Ask", "F1: keys"}, false},
		{"a turn", with("type go", "key enter", `start {"call":"c1","tool":"bash","title":"go test"}`, `update {"call":"t1","tool":"plan","metadata":{"blocks":[{"kind":"checklist","items":[{"text":"one","state":"in_progress"},{"text":"two","state":"pending"}]}]}}`, "wait 2s"), []string{"❯ Ask", "esc: stop", "F1: keys"}, false},
		{"a long prompt", with("type " + strings.Repeat("many words ", 60)), []string{"many words", "F1: keys"}, false},
		{"commands", with("type /"), []string{"❯ /", "/help", "tab: complete"}, false},
		{"files", with("type @"), []string{"❯ @", "calc.go"}, false},
		{"something said", with("key ctrl+x"), []string{"❯ Ask", "no call is running", "F1: keys"}, false},
		{"a question", with(asks, "wait 1s"), append(keys, "Run this command?", "F1: keys"), false},
		{"a question to change", with(strings.Replace(asks, "{", `{"edit":"go test ./...",`, 1), "wait 1s"), append(keys, "e edit", "Run this command?"), false},
		{"a command that is changed", with(strings.Replace(asks, "{", `{"edit":"go test ./...",`, 1), "wait 1s", "key e", "type  && x"), []string{"go test ./... && x", "enter run", "esc back", "Run this command?"}, false},
		{"hunks", with(asksHunks, "wait 1s", "key e"), []string{"[✓] hunk 1 of 2", "space: keep / drop", "enter answer", "esc back", "Edit this file?"}, false},
		{"a reason", with(asks, "wait 1s", "key n", "type because"), []string{"Why not? because", "F1: keys"}, false},
		{"modes", with("type /mode", "key enter"), []string{"permission modes", "enter: select", "esc: close", "❯ Ask"}, true},
		{"sessions", with("key f2", "wait 1s", "key down", "wait 1s"), []string{"sessions", "enter: select", "esc: close", "❯ Ask"}, true},
		{"models", with("type /model", "key enter"), []string{"script/demo", "enter: select", "esc: close", "❯ Ask"}, true},
		{"changes", with("key f3"), []string{"a.go", "esc: close", "F1: keys", "❯ Ask"}, true},
		{"context", with(`counted {"model":"script/demo","estimate":3400,"window":100000,"used":[{"model":"script/demo","requests":2}]}`, "type /context", "key enter"), []string{"esc: close", "F1: keys", "❯ Ask"}, true},
		{"a question over changes", with("key f3", asks, "wait 1s"), append(keys, "Run this command?"), true},
		{"help", with("key f1"), []string{"find:", "esc: close"}, true},
		{"the first screen", []string{"first"}, []string{"▸ ", "enter: select", "F1: keys"}, true},
	}
}

// arrive brings a player into a state.
func (s place) arrive(t *testing.T, inline bool) *player {
	p := newPlayer(t, nil)
	if inline {
		p.inline()
	}
	return s.goThere(p)
}

// goThere takes the steps of a place.
func (s place) goThere(p *player) *player {
	for _, step := range s.steps {
		verb, rest, _ := strings.Cut(step, " ")
		if verb == "first" {
			p.m.first.screen = firstrun.New(&firstrun.Offer{Version: "0.1.0", Problem: "no model is configured, and none was found on this machine", Initial: firstrun.Setup{
				Steps:    []firstrun.Step{{Do: "export ANTHROPIC_API_KEY=…", Means: "a key of Anthropic"}, {Do: "ollama pull qwen3", Means: "a model of this machine, of five gigabytes"}},
				Findings: []firstrun.Finding{{State: firstrun.Missing, Name: "anthropic", Text: "ANTHROPIC_API_KEY is not set"}},
			}}, p.m.draw.Theme, p.m.keys.ofFirst())
			continue
		}
		p.step(verb, rest)
	}
	return p
}

// shown is the screen as one text, with what goes on in the next row put together.
func (p *player) shown() string {
	return strings.Join(strings.Fields(p.dump()), " ")
}

// TestEveryStateAtEverySize: from 40 columns and 10 rows on, whatever is open shows itself, the
// keys that lead on, and the prompt, also after any number of other sizes.
func TestEveryStateAtEverySize(t *testing.T) {
	for _, s := range places() {
		p := s.arrive(t, false)
		rnd := rand.New(rand.NewPCG(7, uint64(len(s.name))))
		sizes := [][2]int{{40, 10}, {60, 15}, {120, 40}, {40, 40}, {200, 10}, {1, 1}, {40, 10}}
		for range 40 {
			sizes = append(sizes, [2]int{1 + rnd.IntN(200), 1 + rnd.IntN(60)})
		}
		for _, size := range sizes {
			p.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			p.wait("1s") // a question that was hidden takes keys a moment later
			where := fmt.Sprintf("%s at %dx%d", s.name, size[0], size[1])
			checkFrame(t, p, where)
			if p.m.small() {
				continue
			}
			for _, need := range s.needs {
				if got := p.shown(); !strings.Contains(got, need) {
					t.Fatalf("%s: %q is not seen:\n%s", where, need, p.dump())
				}
			}
		}
	}
}

// TestEveryKeyThatIsNamedDoesSomething reads the keys off the status line, the dialog's foot and
// the headings of panes, in every state, and asks the table for them: where a key is named it must
// act.
func TestEveryKeyThatIsNamedDoesSomething(t *testing.T) {
	for _, s := range places() {
		p := s.arrive(t, false)
		p.send(tea.WindowSizeMsg{Width: 100, Height: 30})
		p.wait("1s")
		at := p.m.scope()
		for _, hint := range p.m.moment().Hints {
			name := strings.TrimPrefix(hint, "new below · ")
			p.mustAct(t, s.name, at, strings.TrimSuffix(strings.Fields(name)[0], ":"))
		}
		if at == inDialog {
			for _, k := range []string{"y", "a", "n", "esc", "PgDn", "PgUp"} {
				p.mustAct(t, s.name, at, k)
			}
		}
		if at == inView || at == inPicker || at == inHelp {
			p.mustAct(t, s.name, at, "esc")
		}
	}
}

// mustAct fails unless a key by the name that people read does something there.
func (p *player) mustAct(t *testing.T, where string, s scope, name string) {
	t.Helper()
	key := strings.ToLower(name)
	if key == "pgdn" {
		key = "pgdown"
	}
	if b, why := p.m.keys.find(s, key); b == nil {
		t.Errorf("%s: %s is named and does nothing %s", where, name, why)
	}
}
