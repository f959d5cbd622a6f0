package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/internal/testkit/effort"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// hostileTexts are what models, files and commands may print.
func hostileTexts() map[string]string {
	return map[string]string{
		"a line of a megabyte":          strings.Repeat("x", 1<<20),
		"words of a megabyte":           strings.Repeat("word ", 1<<20/5),
		"wide characters":               strings.Repeat("日本語", 10_000),
		"combining characters":          "e" + strings.Repeat("\u0301", 100_000),
		"right to left":                 strings.Repeat("שלום עולם ", 5_000) + "\u202e\u2066\u200f",
		"emoji":                         strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈👍🏽", 5_000),
		"control bytes":                 "\x00\x07\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m\u0090\x7f",
		"bytes that are no text":        string([]byte{0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80}),
		"many empty lines":              strings.Repeat("\n", 100_000),
		"carriage returns":              strings.Repeat("100%\r", 10_000),
		"tabs":                          strings.Repeat("\t", 100_000),
		"open marks":                    strings.Repeat("*_`[(", 10_000),
		"deep quotes and lists":         strings.Repeat("> - ", 5_000) + "x",
		"a fence that is never closed":  "```go\n" + strings.Repeat("func f() {}\n", 5_000),
		"a table of a thousand columns": strings.Repeat("|a", 1_000) + "|\n" + strings.Repeat("|-", 1_000) + "|\n" + strings.Repeat("|b", 1_000) + "|\n",
	}
}

// TestHostileTextIsDrawn puts every text wherever foreign text is shown. Each frame has the right
// size, no row is wider than the screen, and nothing but attributes commands the terminal.
func TestHostileTextIsDrawn(t *testing.T) {
	for name, text := range hostileTexts() {
		if !effort.Is(effort.Short) {
			text = text[:min(len(text), 20_000)]
		}
		t.Run(name, func(t *testing.T) {
			p := newPlayer(t, nil)
			p.m.w, p.m.h = 100, 30
			p.send(tea.PasteMsg{Content: text})
			p.drawn("pasted")
			p.m.prompt.Set("")
			p.step("type", "go")
			p.step("key", "enter")
			half := len(text) / 2
			p.event(session.TextDelta{Message: "m", Delta: text[:half]})
			p.drawn("half an answer")
			p.event(session.TextDelta{Message: "m", Delta: text[half:]})
			p.drawn("an answer")
			p.event(session.ReasoningDelta{Message: "m2", Delta: text})
			p.drawn("thoughts")
			p.event(session.ToolStart{Event: tool.Event{Call: "c", Tool: text, Title: text}})
			p.event(session.ToolUpdate{Event: tool.Event{Call: "c", Metadata: blocksJSON(tool.Output(text, text))}})
			p.clock = p.clock.Add(time.Second)
			p.drawn("a running call")
			blocks := slices.Concat(tool.Code(text, text, 1), tool.Diff(text, "@@ -1 +1 @@\n-"+text+"\n+"+text+"\n"), tool.List([]string{text}))
			p.event(session.ToolEnd{Outcome: tool.Outcome{Call: "c", Tool: text, Title: text, Status: tool.Completed,
				Changed: []string{text}, Metadata: blocksJSON(blocks)}})
			p.drawn("an ended call")
			p.event(session.Notice{Text: text})
			p.drawn("a notice")
			p.m.ports.Net = func(context.Context, api.Baseline) (api.Net, error) { return netOf(text), nil }
			for _, key := range []string{"f3", "esc", "f2", "esc", "pgup", "home", "end"} {
				p.step("key", key)
				p.drawn(key)
			}
		})
	}
}

// drawn checks the frame at two sizes.
func (p *player) drawn(where string) {
	p.t.Helper()
	for _, w := range []int{100, 61} {
		p.m.Update(tea.WindowSizeMsg{Width: w, Height: 30})
		f := p.m.frame()
		if len(f.Rows) != 30 {
			p.t.Fatalf("%s: %d rows on a screen of 30", where, len(f.Rows))
		}
		for y, r := range f.Rows {
			if got := ansi.StringWidth(r.String()); got > w || got != r.Width() {
				p.t.Fatalf("%s: row %d is %d cells wide, says %d, on a screen of %d", where, y, got, r.Width(), w)
			}
			if bad := control(r.String()); bad != "" {
				p.t.Fatalf("%s: row %d holds %s", where, y, bad)
			}
			if len(r.String()) > 100*w {
				p.t.Fatalf("%s: row %d of %d cells has %d bytes", where, y, w, len(r.String()))
			}
		}
	}
}

// control names a control that is no attribute.
func control(row string) string {
	for i := 0; i < len(row); i++ {
		if row[i] >= ' ' && row[i] != 0x7f {
			continue
		}
		rest, ok := strings.CutPrefix(row[i:], "\x1b[")
		end := strings.TrimLeft(rest, "0123456789;:")
		if !ok || end == "" || end[0] != 'm' {
			return fmt.Sprintf("%q", row[i:min(i+10, len(row))])
		}
	}
	return ""
}
