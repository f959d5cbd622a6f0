//go:build unix

package input

import (
	"io"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// TestEnterBeforeRawMode: a terminal turns the Enter key into a line feed until it is in raw mode;
// the line feed of ctrl+j is one afterwards.
func TestEnterBeforeRawMode(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal to be had:", err)
	}
	defer user.Close()
	defer tty.Close()
	events := make(chan uv.Event)
	r := Reader{In: tty, Escape: waitHere, Emit: func(e uv.Event) { events <- e }}
	for _, typed := range []string{"a\r", "\n"} {
		if _, err := io.WriteString(user, typed); err != nil {
			t.Fatal(err)
		}
		if typed == "a\r" {
			if _, err := term.MakeRaw(tty.Fd()); err != nil {
				t.Fatal(err)
			}
			r.Start()
			defer r.Stop()
			if a, enter := (<-events).(uv.KeyPressEvent), (<-events).(uv.KeyPressEvent); a.String() != "a" || enter.String() != "enter" {
				t.Errorf("typed before raw mode: %s, %s", a, enter)
			}
		} else if e := (<-events).(uv.KeyPressEvent); e.String() != "ctrl+j" {
			t.Errorf("ctrl+j is %s", e)
		}
	}
}
