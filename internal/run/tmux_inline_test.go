package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// history is the screen with its scrollback, broken lines joined.
func (p *pane) history() string { return p.tmux("capture-pane", "-p", "-J", "-S", "-") }

// once checks that the terminal holds each text exactly once, scrollback included.
func (p *pane) once(when string, texts ...string) {
	p.t.Helper()
	all := p.history()
	for _, text := range texts {
		if n := strings.Count(all, text); n != 1 {
			p.t.Errorf("%s %q is there %d times:\n%s", when, text, n, all)
		}
	}
}

// TestInlineInATerminal: finished answers are in the terminal's own scrollback exactly once,
// whatever size the window had meanwhile, and nothing else is left behind.
func TestInlineInATerminal(t *testing.T) {
	u := newUser(t)
	open := u.gate("gate")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: The first answer is finished.\ncall bash: {\"command\":\"echo first line; cat gate; echo last line\"}\n"+
		"-- 2 --\ntext: The second answer is finished, and it is so long that a narrow window has to break it.\n"), "--inline", "--permission-mode=yolo")
	p.text("run it")
	p.keys("Enter")
	p.sees("┃ run it", "first line", "esc: stop")
	p.tmux("resize-window", "-x", "62", "-y", "16")
	p.tmux("resize-window", "-x", "120", "-y", "40")
	open()
	p.sees("The second answer is finished")
	p.rests()
	finished := []string{"┃ run it", "The first answer is finished.", "│ last line", "The second answer is finished"}
	p.once("before", append(finished, "Ask, or say what to do", "F1: keys")...)
	for i := range 15 {
		w := 60 + i*7%70
		p.tmux("resize-window", "-x", strconv.Itoa(w), "-y", strconv.Itoa(15+i*5%30))
		p.until("the region in the new width", func() bool {
			now := p.screen()
			return strings.Contains(now, "\n"+strings.Repeat("─", w)+"\n") && strings.Contains(now, "F1: keys")
		})
	}
	p.once("after the sizes", append(finished, "Ask, or say what to do", "F1: keys")...)
	p.keys("F1")
	p.sees("── keys")
	p.keys("Escape")
	p.sees("Ask, or say what to do")
	p.once("after help", append(finished, "Ask, or say what to do")...)
	p.keys("C-d")
	p.restored(0)
	p.once("at the end", append(finished, "ended with 0")...)
	for _, gone := range []string{"Ask, or say what to do", "F1: keys", "── keys"} {
		if strings.Contains(p.history(), gone) {
			t.Errorf("%q was left behind:\n%s", gone, p.history())
		}
	}
}

func TestInlineIsGivenBack(t *testing.T) {
	t.Run("suspended", func(t *testing.T) {
		u := newUser(t)
		p := u.openPane(80, 24)
		p.adze(u.script("-- 1 --\ntext: An answer.\n"), "--inline")
		p.text("ask")
		p.keys("Enter")
		p.sees("An answer.")
		p.rests()
		p.text("half a thought")
		p.keys("C-z")
		p.until("the shell", func() bool { return p.modes() == p.before && !strings.Contains(p.screen(), "❯") })
		p.shell("echo in the $((1+1))nd place")
		p.sees("An answer.", "in the 2nd place")
		p.shell("fg")
		p.sees("in the 2nd place", "❯ half a thought", "F1: keys")
		p.keys("C-u")
		p.sees("Ask, or say what to do")
		p.keys("C-d")
		p.until("the shell as it was", func() bool { return p.modes() == p.before })
		p.once("at the end", "An answer.", "in the 2nd place")
	})
	for _, signal := range []struct {
		syscall.Signal
		code int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
		t.Run(signal.String(), func(t *testing.T) {
			u := newUser(t)
			u.gate("gate")
			p := u.openPane(80, 24)
			p.adze(u.script("-- 1 --\ntext: I begin.\ncall bash: {\"command\":\"echo begun; cat gate\"}\n"), "--inline", "--permission-mode=yolo")
			p.text("wait")
			p.keys("Enter")
			p.sees("begun")
			p.signal(signal.Signal)
			p.restored(signal.code)
			p.once("at the end", "┃ wait", "I begin.")
			if strings.Contains(p.screen(), "❯") {
				t.Errorf("the prompt was left behind:\n%s", p.screen())
			}
		})
	}
}

// TestAnotherModelInline: the conversation goes on below, and is not written a second time.
func TestAnotherModelInline(t *testing.T) {
	u := newUser(t)
	p := u.openPane(90, 30)
	p.adze(u.script("-- 1 --\ntext: The first says this.\n"), "--inline")
	p.text("ask")
	p.keys("Enter")
	p.sees("The first says this.")
	p.rests()
	other := filepath.Join(u.home, "other.txtar")
	if err := os.WriteFile(other, []byte("# another\n-- 1 --\ntext: The second says that.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.text("/model script/" + other)
	p.keys("Enter")
	p.sees("keep as default?")
	p.keys("Enter")
	p.gone("keep as default?")
	p.sees("other.txtar", "Ask, or say what to do")
	p.text("ask again")
	p.keys("Enter")
	p.sees("The second says that.")
	p.rests()
	p.keys("C-d")
	p.restored(0)
	p.once("at the end", "The first says this.", "The second says that.", "┃ ask\n", "┃ ask again")
}

// TestTheTerminalIsTold what it keeps for others: a title, and what was copied, which tmux takes
// from programs only where set-clipboard is on (3.3a).
func TestTheTerminalIsTold(t *testing.T) {
	u := newUser(t)
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\ntext: Täglich **neu**.\n"))
	p.text("ask")
	p.keys("Enter")
	p.sees("Täglich neu.")
	p.rests()
	p.until("a title", func() bool { return strings.Contains(p.tmux("display-message", "-p", "#{pane_title}"), "adze ") })
	p.keys("C-y")
	p.until("the copy", func() bool {
		return strings.Contains(p.tmux("list-buffers"), fmt.Sprintf("%d bytes", len("Täglich **neu**.")))
	})
	if got := p.tmux("show-buffer"); got != "Täglich **neu**." {
		t.Errorf("copied %q", got)
	}
	p.quit()
}
