package question

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/tui/draw"
)

// No choice can be taken before the rows that decide were in the window, and the choice itself is,
// at any size; with the keys that the dialog names it can be.
func TestAChoiceIsTakenOnlyWhenTheQuestionWasSeen(t *testing.T) {
	plan := "# Mend the parser\n\n" + strings.Repeat("1. Read `parse.go` and **all** that calls it\n", 60)
	for name, q := range map[string]ask.Question{
		"a question":        {Text: "Which of them shall it be?", Choices: []string{"this one", "that one", "none of them"}},
		"a long question":   {Text: strings.Repeat("words of a question ", 60), Choices: []string{"this one", "that one"}},
		"long choices":      {Text: "Which?", Choices: []string{strings.Repeat("a choice of many words ", 12), strings.Repeat("and another one ", 12), "c", "d", "e", "f"}},
		"a plan":            {Title: "the model's plan", Text: plan, Markdown: true, Choices: []string{"accept it", "accept it, and ask before each change", "edit it first"}},
		"an MCP server":     {Title: "adze asks", Decides: true, Text: "The server sends logins to https://" + strings.Repeat("long.", 40) + "example.com\nDo you mean it?", Choices: []string{"no", "yes"}},
		"what it would run": {Title: "adze asks", Decides: true, Text: strings.Repeat("it runs a command\n", 30), Choices: []string{"no", "yes"}},
	} {
		for _, size := range [][2]int{{40, 10}, {40, 12}, {60, 16}, {80, 24}, {120, 40}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := New(draw.Mono(), Labels{Send: "enter", Stop: "esc", Down: "PgDn", Up: "PgUp", Marks: "↑ ↓"})
				d.Add(&Asked{Question: q, Reply: make(chan Reply, 1)})
				w, h := size[0], size[1]-5
				shown := map[string]bool{}
				draws := func() string {
					var out strings.Builder
					rows, _, _ := d.Render(w, h)
					for _, r := range rows {
						shown[r.String()] = true
						out.WriteString(r.String() + "\n")
					}
					return out.String()
				}
				draws()
				for step := 0; d.Unseen() != ""; step++ {
					if step > 2000 {
						t.Fatalf("it cannot be answered: %s", d.Unseen())
					}
					if step == 0 && d.rowsSeen >= d.needed(len(d.text(w))) && d.onMarked {
						t.Errorf("all is in view, and yet: %s", d.Unseen())
					}
					d.Scroll(1)
					draws()
				}
				for i, row := range d.text(w) {
					if i < fewest || q.Decides {
						if !shown[row.Fit(w).String()] && !shown[row.String()] {
							t.Errorf("row %d was not shown before the answer: %q", i, row.String())
						}
					}
				}
				for range q.Choices {
					d.Move(1)
					view := draws()
					if d.Unseen() == "" && !strings.Contains(view, "▸ ") {
						t.Errorf("the choice that would be taken is not seen:\n%s", view)
					}
				}
				d.FreeAnswer.Insert("other words")
				draws()
				if why := d.Unseen(); why != "" {
					t.Errorf("other words cannot be sent: %s", why)
				}
			})
		}
	}
}
