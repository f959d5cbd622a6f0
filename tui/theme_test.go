package tui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/tool"
)

// colored is a player on a terminal of many colours, in the midst of a turn.
func colored(t *testing.T, theme string) *player {
	p := newPlayer(t, nil)
	env := map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}
	fresh := newModel(Options{Theme: theme, Blocks: testBlocks, Info: *p.m.info, Env: func(name string) string { return env[name] }})
	fresh.w, fresh.h, fresh.now, fresh.after, fresh.turns.start = 100, 40, p.m.now, p.m.after, p.m.turns.start
	p.m = fresh
	*p.m.ports = p.ports()
	return p
}

// play shows something of everything that keeps what it laid out.
func (p *player) play() {
	p.step("type", "fix it")
	p.step("key", "enter")
	p.step("user", "fix `it`")
	p.step("think", `m0 "a thought\n"`)
	p.step("text", `m0 "# Heading\n\nsome **bold** text and `+"`code`"+`\n"`)
	p.step("said", `{"ID":"m0","Parts":[{"Kind":"reasoning","Text":"a thought\n"},{"Kind":"text","Text":"# Heading\n\nsome **bold** text and `+"`code`"+`\n"}]}`)
	p.step("notice", "take care")
	diff := string(blocksJSON(tool.Diff("a.go", "@@ -1 +1 @@\n-a\n+b\n")))
	p.step("end", `{"call":"c1","tool":"edit","status":"completed","changed":["a.go"],"metadata":`+diff+`}`)
	p.step("start", `{"call":"c2","tool":"bash"}`)
	p.step("update", `{"call":"c2","tool":"bash","metadata":`+string(blocksJSON(tool.Diff("b.go", "@@ -1 +1 @@\n-c\n+d\n")))+`}`)
	p.step("wait", "1s")
}

func (p *player) painted() string {
	var b strings.Builder
	for _, r := range p.m.frame().Rows {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

// TestAnotherThemeIsSeenEverywhere: after a change, the screen is what it would be had the theme
// been there from the start.
func TestAnotherThemeIsSeenEverywhere(t *testing.T) {
	for _, key := range []string{"", "f3", "f2", "f1"} {
		changed, always, old := colored(t, "dark"), colored(t, "light"), colored(t, "dark")
		for _, p := range []*player{changed, always, old} {
			p.play()
			p.step("key", key)
		}
		changed.m.colours.toTheme("light")
		always.m.colours.name = "light"
		always.m.statusLine = changed.m.statusLine
		if got, want := changed.painted(), always.painted(); got != want {
			t.Errorf("after %q\n%q\nwant\n%q", key, got, want)
		}
		if changed.painted() == old.painted() {
			t.Errorf("after %q nothing changed", key)
		}
	}
}

// TestTheTerminalsBackgroundChoosesTheTheme: the answer comes late and changes what was drawn.
func TestTheTerminalsBackgroundChoosesTheTheme(t *testing.T) {
	p, dark, light := colored(t, "auto"), colored(t, "dark"), colored(t, "light")
	asked := 0
	p.m.ask = func(background bool) {
		if background {
			asked++
		}
	}
	p.run(p.m.Init())
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	for _, x := range []*player{p, dark, light} {
		x.play()
	}
	p.send(tea.BackgroundColorMsg{Color: color.Black})
	if p.painted() != dark.painted() {
		t.Error("on black it is not dark")
	}
	p.send(tea.BackgroundColorMsg{Color: color.White})
	if p.painted() != light.painted() {
		t.Error("on white it is not light")
	}
	dark.m.ask = func(background bool) {
		if background {
			t.Error("asked although the person chose")
		}
	}
	dark.run(dark.m.Init())
}

// TestTheTerminalSaysHowItCounts: what is shown is drawn anew when the answer changes the widths.
func TestTheTerminalSaysHowItCounts(t *testing.T) {
	p := newPlayer(t, nil)
	drawn := 0
	p.m.colours.forget = func() { drawn++ }
	for _, answer := range []struct {
		value ansi.ModeSetting
		drawn int
	}{{ansi.ModeNotRecognized, 0}, {ansi.ModeSet, 1}, {ansi.ModePermanentlySet, 1}, {ansi.ModeReset, 2}} {
		p.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: answer.value})
		if drawn != answer.drawn {
			t.Errorf("after the answer %d it was drawn anew %d times", answer.value, drawn)
		}
	}
}
