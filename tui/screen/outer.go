package screen

import (
	"encoding/base64"
	"strings"

	"adze/internal/text/safeterm"
)

// MaxCopy is the maximum number of bytes to copy: xterm and others drop longer sequences.
const MaxCopy = 74_000

// Note is a desktop notification with a constant text.
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

// Outer writes sequences for the clipboard and notifications.
type Outer struct {
	tmux   bool
	screen bool   // GNU screen
	notify string // sequence format: 9, 99, 777 or bell
}

// OuterFor chooses the formats by the environment. The rxvt and VTE families support OSC 777, kitty
// OSC 99, the Linux console only the bell, and most others OSC 9.
func OuterFor(env func(string) string) Outer {
	o := Outer{tmux: env("TMUX") != "" || strings.HasPrefix(env("TERM"), "tmux"), notify: "9"} // over ssh only TERM is known
	o.screen = env("STY") != "" && !o.tmux
	switch term := env("TERM"); {
	case strings.HasSuffix(term, "kitty"):
		o.notify = "99"
	case term == "linux":
		o.notify = "bell"
	case strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") || env("VTE_VERSION") != "":
		o.notify = "777"
	}
	return o
}

// Copy returns the sequence to set the clipboard (OSC 52). The text is encoded and cannot contain
// sequences.
func (o Outer) Copy(t safeterm.Text) string {
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(t.String())) + "\a"
	if o.tmux { // depending on its settings, tmux handles the first or passes on the second
		return seq + passed(seq)
	}
	return o.through(seq)
}

// Notify returns the sequence for a notification.
func (o Outer) Notify(n Note) string {
	switch o.notify {
	case "bell":
		return "\a"
	case "777":
		return o.through("\x1b]777;notify;adze;" + n.text() + "\a")
	case "99":
		return o.through("\x1b]99;;" + n.text() + "\x1b\\")
	}
	return o.through("\x1b]9;" + n.text() + "\a")
}

// through makes a multiplexer pass a sequence to the outer terminal.
func (o Outer) through(seq string) string {
	switch {
	case o.tmux:
		return passed(seq)
	case o.screen:
		return inPieces(seq)
	}
	return seq
}

// inPieces makes GNU screen pass a sequence to the outer terminal: screen passes on DCS contents,
// at most 256 bytes in older versions.
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

// passed makes tmux pass a sequence to the outer terminal.
func passed(seq string) string {
	return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
}

// Copy sets the terminal's clipboard.
func (s *Screen) Copy(o Outer, t safeterm.Text) { s.outer(o.Copy(t)) }

// Notify sends a desktop notification through the terminal.
func (s *Screen) Notify(o Outer, n Note) { s.outer(o.Notify(n)) }

// Ask queries whether the terminal counts cells by grapheme cluster (mode 2027) and, on request,
// its background color (OSC 11). Answers arrive as input; a terminal may ignore a query.
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
		s.emit([]byte(seq))
	}
}
