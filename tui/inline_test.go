package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"adze/session"
	"adze/tui/draw"
	"adze/tui/screen"
)

// inlined is what an inline interface hands to the screen.
type inlined struct {
	scrolled []draw.Row
	last     screen.Frame
}

// inline makes the player's interface an inline one, from its first frame on.
func (p *player) inline() {
	p.m.conversation.inline = true
	p.seen = &inlined{}
	p.show()
}

// show takes the next frame.
func (p *player) show() {
	f := p.m.Frame()
	if p.seen != nil {
		p.seen.scrolled = append(p.seen.scrolled, f.Scrolled...)
		f.Scrolled = nil
		p.seen.last = f
	}
}

// lines is rows as a user sees them.
func lines(rows []draw.Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(ansi.Strip(r.String()), " ") + "\n")
	}
	return b.String()
}

// dumpInline is the scrollback since the last dump, and what is painted below it.
func (p *player) dumpInline() string {
	p.show()
	where := "(below, of " + fmt.Sprint(p.m.h) + " rows:)\n"
	if p.seen.last.Over {
		where = "(on the alternate screen:)\n"
	}
	out := "(scrollback:)\n" + lines(p.seen.scrolled) + where
	p.seen.scrolled = nil
	return out
}

// TestInlineLosesAndRepeatsNothing: whatever happens, each final line is in the scrollback once, in
// order, and the region leaves a row of it visible.
func TestInlineLosesAndRepeatsNothing(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		p := newPlayer(t, nil)
		*p.m.ports = p.ports()
		p.inline()
		p.send(batch{})
		var want []string
		say := func(format string, n int) string {
			want = append(want, fmt.Sprintf(format, n))
			return want[len(want)-1]
		}
		for n := range 60 {
			switch rnd.IntN(7) {
			case 0:
				p.step("user", say("user%dx", n))
			case 1:
				text := say("answer%dx", n) + "\n\n" + say("second%dx", n)
				p.step("text", fmt.Sprintf("m%d %q", n, text[:5]))
				if rnd.IntN(3) == 0 { // it fails in the middle, and comes whole later
					p.event(session.Retry{Message: fmt.Sprint("m", n), Attempt: 2, Of: 3, Cause: "again", Delay: time.Second})
				}
				p.step("said", fmt.Sprintf(`{"id":"m%d","parts":[{"kind":"text","text":%q}]}`, n, text))
			case 2:
				p.step("start", fmt.Sprintf(`{"call":"c%d","tool":"bash"}`, n))
				p.step("wait", "1s")
				p.step("end", fmt.Sprintf(`{"call":"c%d","tool":"bash","status":"completed","title":%q}`, n, say("call%dx", n)))
			case 3:
				p.step("notice", say("notice%dx", n))
			case 4:
				p.step("size", fmt.Sprintf("%dx%d", 62+rnd.IntN(80), 16+rnd.IntN(30)))
			case 5:
				p.step("key", []string{"f1", "f3", "esc", "ctrl+o", "f2"}[rnd.IntN(5)])
			case 6:
				p.step("type", "word ")
			}
			if f := p.seen.last; !f.Over && (len(f.Rows) >= p.m.h || len(f.Rows) == 0) {
				t.Fatalf("seed %d: %d rows below in a window of %d", seed, len(f.Rows), p.m.h)
			}
		}
		got := lines(append(p.seen.scrolled, p.m.lastWords()...))
		at := 0
		for _, w := range want {
			i := strings.Index(got[at:], w)
			if i < 0 || strings.Count(got, w) != 1 {
				t.Fatalf("seed %d: %q is there %d times, or not in order\n%s", seed, w, strings.Count(got, w), got)
			}
			at += i + len(w)
		}
	}
}

// TestStackEverySize: an inline interface leaves a row of the conversation visible, and has room
// for what takes the keys.
func TestStackEverySize(t *testing.T) {
	wants := []Wants{{Prompt: 2}, {Prompt: 40, WorkPane: 60}, {Dialog: 100, WorkPane: 3}, {Dialog: 5, Prompt: 2, WorkPane: 4}, {Prompt: 2, Menu: 8, WorkPane: 9}}
	for w := 1; w <= 250; w += 7 {
		for h := 1; h <= 80; h++ {
			for i, want := range wants {
				l := Stack(w, h, want, 3*i)
				if l.Status.H != 1 || l.Status.Y > max(h-2, 0) {
					t.Fatalf("%dx%d %+v: the status line is at %+v", w, h, want, l.Status)
				}
				if l.TooSmall {
					continue
				}
				if strings.Contains(drawn(w, h, l), "!") {
					t.Errorf("%dx%d %+v: panes overlap: %+v", w, h, want, l)
				}
				if l.Prompt.H+l.Dialog.H < 2 {
					t.Errorf("%dx%d %+v: no room for %+v", w, h, want, l)
				}
			}
		}
	}
}
