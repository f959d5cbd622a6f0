package tui

import (
	"fmt"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
	"adze/tui/ui"
)

// TestArrange draws layouts: each pane as a field of its letter. A case's input is one line:
// WIDTHxHEIGHT around dialog prompt.
func TestArrange(t *testing.T) {
	golden.Cases(t, "testdata/arrange", func(t *testing.T, c *golden.Case) {
		var w, h int
		var want Wants
		if _, err := fmt.Sscanf(c.Input, "%dx%d %d %d %d", &w, &h, &want.WorkPane, &want.Dialog, &want.Prompt); err != nil {
			t.Fatal(err)
		}
		c.Want(t, "want.layout", drawn(w, h, Arrange(w, h, want)))
	})
}

func drawn(w, h int, l Layout) string {
	if l.TooSmall {
		return "too small\n"
	}
	cells := make([][]byte, h)
	for i := range cells {
		cells[i] = []byte(strings.Repeat(".", w))
	}
	for letter, r := range map[byte]ui.Rect{
		't': l.Transcript, 'a': l.WorkPane, 'd': l.Dialog, 'p': l.Prompt, 's': l.Status, '|': l.Divide, 'm': l.Menu, 'v': l.FullPane,
	} {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if cells[y][x] != '.' {
					letter = '!' // two panes on one cell
				}
				cells[y][x] = letter
			}
		}
	}
	var b strings.Builder
	for _, row := range cells {
		b.Write(append(row, '\n'))
	}
	return b.String()
}

// TestArrangeEverySize holds what must be true on any screen: panes do not overlap, none leaves the
// screen, the transcript and whatever takes the keys are there.
func TestArrangeEverySize(t *testing.T) {
	wants := []Wants{{Prompt: 2}, {Prompt: 40, WorkPane: 60}, {Dialog: 100, WorkPane: 3}, {Dialog: 5, Prompt: 2, WorkPane: 4},
		{Prompt: 2, Menu: 8, WorkPane: 9}, {Prompt: 9, FullPane: true, WorkPane: 2, Menu: 3}, {Dialog: 9, FullPane: true}, {Status: 9, Prompt: 3}, {Status: 9, Dialog: 20}}
	for w := 1; w <= 250; w += 7 {
		for h := 1; h <= 80; h += 3 {
			for _, want := range wants {
				l := Arrange(w, h, want)
				if l.TooSmall != (w < minWidth || h < minHeight) {
					t.Fatalf("%dx%d: too small: %v", w, h, l.TooSmall)
				}
				if l.TooSmall {
					continue
				}
				if strings.Contains(drawn(w, h, l), "!") {
					t.Errorf("%dx%d %+v: panes overlap: %+v", w, h, want, l)
				}
				least := 3
				if want.Dialog > 0 && (h < 15 || want.Status > 1) {
					least = 1 // the question and its keys come first
				}
				if l.Transcript.H+l.FullPane.H < least || l.Prompt.H+l.Dialog.H < 2 || l.Status.H < 1 {
					t.Errorf("%dx%d %+v: no room for %+v", w, h, want, l)
				}
			}
		}
	}
}
