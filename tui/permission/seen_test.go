package permission

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/tool"
	"adze/tui/draw"
)

// No question can be allowed before the rows that decide were in the window, at any size; after
// scrolling it can.
func TestAQuestionIsAllowedOnlyWhenItWasSeen(t *testing.T) {
	need := func(n tool.Need) []tool.Need { return []tool.Need{n} }
	offer := []ask.Offer{{Rule: "allow execute(go test **)", Covers: strings.Repeat("go test ", 9), Spares: "go run"}, {Rule: "allow execute(go **)"}}
	asks := map[string]ask.Permission{
		"a command":       {Question: tool.Question{Needs: need(tool.Need{Permission: tool.Execute, Target: "go test ./..."})}},
		"a long command":  {Question: tool.Question{Needs: need(tool.Need{Permission: tool.Execute, Target: strings.Repeat("echo a && ", 60)})}},
		"a script":        {Question: tool.Question{Needs: need(tool.Need{Permission: tool.Execute, Target: strings.Repeat("echo a\n", 40) + "rm -rf x"})}},
		"with a rule":     {Question: tool.Question{Needs: need(tool.Need{Permission: tool.Execute, Target: "go test ./...", Dir: "/other"})}, Offers: offer, Why: "no rule allows it"},
		"a change":        {Question: tool.Question{Needs: need(tool.Need{Permission: tool.Write, Target: "a.go"})}, Offers: offer, Preview: []tool.Block{{Kind: tool.TextBlock, Text: strings.Repeat("line\n", 300)}}},
		"several of them": {Question: tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: "a"}, {Permission: tool.Write, Target: "b"}, {Permission: tool.Network, Target: "https://example.com/" + strings.Repeat("x", 90)}}}},
	}
	for name, question := range asks {
		for _, size := range [][2]int{{40, 12}, {40, 10}, {20, 8}, {80, 24}, {120, 40}, {200, 60}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := New(draw.Mono(), Labels{Once: "y", Down: "PgDn", Up: "PgUp"}, "/w")
				d.Add(&Asked{Permission: question, Reply: make(chan ask.Answer, 1)})
				w, h := size[0], size[1]-3
				d.Render(w, h)
				all := d.Body(w).Len()
				room := max(h-2-len(d.foot(w)), 0)
				want := max(d.decisive, min(all, fewest))
				if (d.Unseen() == "") != (room >= want) {
					t.Errorf("%d of %d rows in view, %d decide: %q", room, all, want, d.Unseen())
				}
				for range all + 1 {
					if d.Unseen() == "" {
						break
					}
					d.Scroll(1)
					d.Render(w, h)
				}
				if room == 0 {
					if !strings.Contains(d.Unseen(), "too small") {
						t.Errorf("no row fits: %q", d.Unseen())
					}
					return
				}
				if why := d.Unseen(); why != "" {
					t.Errorf("it was scrolled through: %s", why)
				}
				if d.OtherGrants() > 0 && room < d.decisive {
					if d.Another(); d.Unseen() == "" {
						t.Error("another rule counts as seen before it was shown")
					}
				}
			})
		}
	}
}
