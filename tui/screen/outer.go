package screen

import (
	"encoding/base64"
	"strings"

	"adze/internal/text/safeterm"
)

// MaxCopy is how many bytes are copied at most: xterm and others drop longer sequences whole.
const MaxCopy = 74_000

// Note is something the user is told of while they look elsewhere. Its text is a constant of
// ours.
type Note uint8

// Notes.
const (
	NoteDone Note = iota // the turn is over
	NoteAsk              // a question waits
)

func (n Note) text() string {
	if n == NoteAsk {
		return "adze asks for your permission"
	}
	return "adze is done"
}

// Outer writes the sequences that concern what is around the terminal's cells: clipboard and
// notifications.
type Outer struct {
	tmux   bool
	screen bool   // GNU screen
	notify string // the form of the sequence: 9, 99 or 777; or bell
}

// OuterFor chooses by the environment. Terminals of the rxvt and VTE families know OSC 777, kitty
// knows OSC 99, the console of Linux has a bell alone, and most others know OSC 9.
func OuterFor(env func(string) string) Outer {
	o := Outer{tmux: env("TMUX") != "" || strings.HasPrefix(env("TERM"), "tmux"), notify: "9"} // over ssh, TERM alone tells
	o.screen = env("STY") != "" && !o.tmux
	if strings.HasPrefix(env("TERM"), "rxvt") || strings.HasPrefix(env("TERM"), "foot") || env("VTE_VERSION") != "" {
		o.notify = "777"
	}
	switch term := env("TERM"); {
	case strings.HasSuffix(term, "kitty"):
		o.notify = "99"
	case term == "linux":
		o.notify = "bell"
	}
	return o
}

// Copy puts a text into the clipboard (OSC 52). The text is encoded, so nothing in it is obeyed.
func (o Outer) Copy(t safeterm.Text) string {
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(t.String())) + "\a"
	switch {
	case o.tmux:
		return seq + passed(seq) // tmux takes the one or passes on the other, as it is set up
	case o.screen:
		return inPieces(seq)
	}
	return seq
}

// Notify tells the desktop.
func (o Outer) Notify(n Note) string {
	seq := "\x1b]9;" + n.text() + "\a"
	if o.notify == "777" {
		seq = "\x1b]777;notify;adze;" + n.text() + "\a"
	}
	switch {
	case o.notify == "99":
		seq = "\x1b]99;;" + n.text() + "\x1b\\"
	case o.notify == "bell":
		return "\a"
	}
	switch {
	case o.tmux:
		return passed(seq)
	case o.screen:
		return inPieces(seq)
	}
	return seq
}

// inPieces has GNU screen hand a sequence to the terminal around it: screen passes on what is in a
// DCS, of 256 bytes at most in its older versions.
func inPieces(seq string) string {
	const most = 200
	var b strings.Builder
	for len(seq) > 0 {
		n := min(most, len(seq))
		b.WriteString("\x1bP" + seq[:n] + "\x1b\\")
		seq = seq[n:]
	}
	return b.String()
}

// passed wraps a sequence so that tmux hands it to the terminal around it.
func passed(seq string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// Copy puts a text into the clipboard of the terminal.
func (s *Screen) Copy(o Outer, t safeterm.Text) { s.outer(o.Copy(t)) }

// Notify tells the desktop through the terminal.
func (s *Screen) Notify(o Outer, n Note) { s.outer(o.Notify(n)) }

// Ask asks the terminal whether it counts cells by grapheme cluster (mode 2027), and, on request,
// for the colour of its background (OSC 11). The answers come as input; a terminal that does not
// know a question says nothing.
func (s *Screen) Ask(background bool) {
	seq := "\x1b[?2027$p"
	if background {
		seq += "\x1b]11;?\x1b\\"
	}
	s.outer(seq)
}

func (s *Screen) outer(seq string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active {
		s.put([]byte(seq))
	}
}
