package transcript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// counted is an entry of some numbered rows.
type counted struct {
	laidOut
	n, size int
	close   bool
}

func (c *counted) tight() bool             { return c.close }
func (c *counted) hidden(*ui.Drawing) bool { return c.size == 0 }

func (c *counted) rows(d *ui.Drawing, w int) []draw.Row {
	return c.get(d, w, func() []draw.Row {
		rows := []draw.Row{}
		for i := range c.size {
			rows = append(rows, d.Theme.Line(draw.Plain, safeterm.Name(fmt.Sprintf("%d.%d", c.n, i))))
		}
		return rows
	})
}

// TestListShowsAWindow compares random scrolling, growing and shrinking with a list of all rows:
// what is visible is always a piece of it, and all of it that fits.
func TestListShowsAWindow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	d := &ui.Drawing{Theme: draw.Bare()}
	for range 200 {
		l := list{follow: true}
		h := 3 + rnd.IntN(20)
		for step := range 60 {
			switch rnd.IntN(6) {
			case 0, 1:
				l.add(&counted{n: len(l.entries), size: rnd.IntN(12), close: rnd.IntN(2) == 0})
			case 2:
				l.Scroll(d, rnd.IntN(2*h)-h)
			case 3:
				if n := len(l.entries); n > 0 {
					c := l.entries[rnd.IntN(n)].(*counted)
					c.size = rnd.IntN(12)
					c.forget()
				}
			case 4:
				[]func(){l.ToStart, l.ToEnd}[rnd.IntN(2)]()
			case 5:
				h = 3 + rnd.IntN(20)
			}
			got := text(l.visible(d, 20, h))
			all := text(everything(&l, d))
			want := min(h, strings.Count(all, "\n"))
			if n := strings.Count(got, "\n"); n != want || !strings.Contains("\n"+all, "\n"+got) {
				t.Fatalf("step %d, height %d: %d rows visible, want %d\n%q\nof\n%q", step, h, n, want, got, all)
			}
			if l.follow && !strings.HasSuffix(all, got) {
				t.Fatalf("step %d: the end is followed but not visible:\n%q\nof\n%q", step, got, all)
			}
		}
	}
}

func everything(l *list, d *ui.Drawing) []draw.Row {
	var rows []draw.Row
	for i := range l.entries {
		if l.gap(d, i) == 1 {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, l.entries[i].rows(d, 20)...)
	}
	return rows
}

func text(rows []draw.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

// TestListForgetsWhatIsFar bounds the memory of a long session.
func TestListForgetsWhatIsFar(t *testing.T) {
	d := &ui.Drawing{Theme: draw.Bare()}
	l := list{follow: true}
	for i := range 2000 {
		l.add(&counted{n: i, size: 3})
	}
	l.visible(d, 20, 20)
	for range 300 {
		l.Scroll(d, -18)
		l.visible(d, 20, 20)
	}
	l.ToEnd()
	l.visible(d, 20, 20)
	laid := 0
	for _, e := range l.entries {
		if e.(*counted).cachedRows != nil {
			laid++
		}
	}
	if laid > 2*keepAround+20 {
		t.Errorf("%d entries keep their layout", laid)
	}
}
