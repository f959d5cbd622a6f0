package tui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// TestLargePasteInTerminal: ten megabytes are one word in the prompt, and are sent whole.
func TestLargePasteInTerminal(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	text := strings.Repeat("a line of a log as programs write them by the thousand\r", 10<<20/55)
	go func() { _, _ = io.WriteString(x.pty, "\x1b[200~"+text+"\x1b[201~") }() // the program takes it while it draws
	x.expect("[pasted 1: 190651 lines")
	x.press(" go\r")
	x.expect("y yes")
	x.press("y")
	x.expect("✓ $ ")
	x.press("\x04")
	x.expect("bye")
	x.finish(0)
}

// quits leaves with ctrl+c pressed twice.
func (x *terminal) quits() {
	x.t.Helper()
	x.press("\x03\x03")
	x.expect("bye")
	x.finish(0)
}

// TestKeysBeforeTheFirstFrame are not lost.
func TestKeysBeforeTheFirstFrame(t *testing.T) {
	x := openTerminal(t, "fast")
	x.press("typed early")
	x.expect("F1 all keys") // the first frame, which may hold some of them already
	x.press("\r")
	x.expect("┃ typed early")
	x.expect("Run this command?")
	x.quits()
}

// TestResizeStorm: after a thousand sizes the last one counts, and keys still work.
func TestResizeStorm(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	for i := range 1000 {
		_ = pty.Setsize(x.pty, &pty.Winsize{Rows: uint16(20 + i%30), Cols: uint16(70 + i%90)})
	}
	_ = pty.Setsize(x.pty, &pty.Winsize{Rows: 9, Cols: 39})
	x.expect("This window is too small")
	_ = pty.Setsize(x.pty, &pty.Winsize{Rows: 24, Cols: 80})
	x.expect("Ask, or say what to do")
	x.press("still here")
	x.expect("still here")
	x.quits()
}

// TestNobodyToComeBackTo: where no shell could continue the process, ctrl+z gives the terminal back
// for a moment and goes on.
func TestNobodyToComeBackTo(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	x.press("\x1a")
	x.expect("\x1b[?1049l")
	x.expect("\x1b[?1049h")
	x.expect("Ask, or say what to do")
	x.press("still here")
	x.expect("still here")
	x.quits()
}

// freshState is the modes of a terminal that nobody has used.
func freshState(t *testing.T) string {
	t.Helper()
	f, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	defer f.Close()
	return state(t, f)
}

func state(t *testing.T, f *os.File) string {
	s, err := term.GetState(f.Fd())
	if err != nil {
		t.Skip(err)
	}
	return fmt.Sprint(*s)
}
