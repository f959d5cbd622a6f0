package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/testkit/effort"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
)

// TestNothingBreaksTheInterface presses every key of the table in random order, between events,
// pastes and new sizes. Whatever happens, there is a frame of the right size with clean rows, and
// the cursor is on it.
func TestNothingBreaksTheInterface(t *testing.T) {
	var keys []string
	for _, b := range bare().bindings() {
		for _, k := range b.Keys() {
			if k != "space" && k != "shift+backspace" {
				keys = append(keys, k)
			}
		}
	}
	rounds := effort.Rounds(5, 30, 30)
	for seed := range uint64(rounds) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		p := newPlayer(t, nil)
		*p.m.ports = p.ports()
		p.m.borrow = func(use func() error) func() error { return use }
		p.m.ports.Edit = func(text string) (string, error) { return text + "x", nil }
		for step := range 300 {
			p.log, p.timers = nil, nil
			p.clock = p.clock.Add(time.Duration(rnd.IntN(400)) * time.Millisecond)
			randomStep(p, rnd, keys, step)
			checkFrame(t, p, fmt.Sprintf("seed %d, step %d", seed, step))
		}
	}
}

func randomStep(p *player, rnd *rand.Rand, keys []string, step int) {
	id := tool.CallID(fmt.Sprint("c", rnd.IntN(5)))
	switch rnd.IntN(14) {
	case 0:
		p.send(tea.WindowSizeMsg{Width: rnd.IntN(140), Height: rnd.IntN(50)})
	case 1:
		p.send(tea.PasteMsg{Content: strings.Repeat("日本 a\x1b[2Jb\t\n", rnd.IntN(20))})
	case 2:
		p.step("text", fmt.Sprintf("m%d %q", step/20, "some *words*\n```\nx"))
	case 3:
		p.event(session.ToolStart{Event: tool.Event{Call: id, Tool: "bash"}})
	case 4:
		raw := blocksJSON(tool.Diff("a.go", "@@ -1 +1 @@\n-a\n+b\n"))
		p.event(session.ToolEnd{Outcome: tool.Outcome{Call: id, Tool: "edit", Status: tool.Completed, Changed: []string{"a.go"}, Metadata: raw}})
	case 5:
		p.step("user", "hello\nthere")
	case 6:
		if p.m.turns.turn.running && rnd.IntN(3) == 0 {
			p.step("done", []string{"done", "interrupted", "provider"}[rnd.IntN(3)])
		}
	case 7:
		if len(p.open) < 3 {
			p.permission(`{"tool":"bash","needs":[{"permission":"execute","target":"make"}],"rule":"allow execute(make)","save":"/c"}`)
		}
	case 8:
		for _, r := range []string{"/", "@", "!", "word ", "/mo", "@pa", "é\u0301", "\u202e"}[rnd.IntN(8)] {
			p.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	default:
		p.send(keyPress(p.t, keys[rnd.IntN(len(keys))]))
	}
}

func checkFrame(t *testing.T, p *player, where string) {
	t.Helper()
	f := p.m.frame()
	if p.m.w > 0 && p.m.h > 0 && len(f.Rows) != p.m.h {
		t.Fatalf("%s: %d rows on a screen of %d", where, len(f.Rows), p.m.h)
	}
	if f.Cursor && (f.CursorX < 0 || f.CursorX >= p.m.w || f.CursorY < 0 || f.CursorY >= p.m.h) {
		t.Fatalf("%s: the cursor is at %d,%d of %dx%d", where, f.CursorX, f.CursorY, p.m.w, p.m.h)
	}
	e, _ := p.m.editor()
	if e.Cursor < 0 || e.Cursor > len(e.Text) || safeterm.Clean(e.Text).Len() != len(e.Text) {
		t.Fatalf("%s: the editor holds %q with the cursor at %d", where, e.Text, e.Cursor)
	}
	p.dump()
}
