// Package safeterm is the only way foreign text reaches a terminal.
//
// Foreign text is whatever this program did not write itself: what a model says, file contents and
// names, command output, web pages, error messages of servers. A terminal obeys some of it: moves
// the cursor, sets the title, writes the clipboard, answers questions into the prompt. And a user
// is misled by more of it: text that runs right to left, has no width, or hides behind an
// overwrite.
//
// The one rule: a [Text] comes from this package's functions alone, and it holds no control
// character except newline and tab. Drawing code takes Text, so that unclean text is a compile
// error.
//
// Which function, by what the user needs to see:
//
//	Clean   prose, answers         sequences and hidden characters dropped, emoji kept whole
//	Stream  prose in pieces        as Clean; the same result however the text is cut
//	Output  command output         as Clean, and a carriage return overwrites its line
//	Reveal  diffs, code, commands  nothing dropped: every such character shown as <U+XXXX>
//	Name    names, titles, paths   as Reveal on one line: newline and tab are shown too
//	Fixed   our own constants
//
// Start reading at machine.go. Styles (colour, bold) are not here: the drawing code adds its own
// around a Text.
//
// Known limits: lookalike letters (Cyrillic а for Latin a) pass. Text in an 8-bit code page is not
// UTF-8: its bytes 0x80-0x9F are taken for the controls they would be on an 8-bit terminal, so
// decode before showing. Emoji keep their variation selectors, whose width terminals disagree
// about.
package safeterm

import (
	"strings"
	"unicode/utf8"
)

// Text is text that a terminal shows and never obeys: valid UTF-8 without control characters other
// than newline and tab, without bidirectional controls, tags, or stray zero-width characters. The
// zero value is empty.
type Text struct{ s string }

// constant is the type of what only the source code can say: an untyped constant converts to it by
// itself, a variable of type string does not.
type constant string

// Fixed makes a Text of a constant in our own source; variables do not compile.
func Fixed(s constant) Text { return Clean(string(s)) }

// Clean makes prose safe: escape sequences, controls and hidden characters are dropped, a lone
// carriage return becomes a newline, emoji and joining scripts keep their joiners.
func Clean(s string) Text { return whole(prose, s) }

// Output makes command output safe. It is Clean, except that a lone carriage return starts its line
// over and a backspace takes back one character, as on a terminal: of a progress bar the last state
// stays.
func Output(s string) Text { return whole(output, s) }

// Reveal makes text safe of which nothing may be hidden: diffs, code, a command to approve. Every
// control (but newline, tab, and the carriage return of a line end) and every hidden character is
// written out as <U+XXXX>; escape sequences are shown, not interpreted.
func Reveal(s string) Text { return whole(reveal, s) }

// Name makes a name, path or title safe on one line: as Reveal, with a newline shown as ⏎ and
// a tab written out.
func Name(s string) Text { return whole(name, s) }

// whole runs a complete text through a fresh machine; plain ASCII comes back as it is, uncopied.
func whole(f form, s string) Text {
	n := plain(s, f != name)
	if n == len(s) {
		return Text{s}
	}
	m := machine{form: f}
	dst := make([]byte, 0, len(s)+16)
	dst = m.feed(dst, s)
	return Text{string(m.end(dst))}
}

// String returns the safe text.
func (t Text) String() string { return t.s }

// Len returns the length in bytes.
func (t Text) Len() int { return len(t.s) }

// Lines splits at newlines; the newlines are gone, an empty Text is one empty line.
func (t Text) Lines() []Text {
	parts := strings.Split(t.s, "\n")
	lines := make([]Text, len(parts))
	for i, p := range parts {
		lines[i] = Text{p}
	}
	return lines
}

// Slice returns the bytes from..to; an offset inside a character moves back to its start, since
// half a character could be read as a control.
func (t Text) Slice(from, to int) Text {
	return Text{t.s[t.boundary(from):t.boundary(to)]}
}

// boundary moves an offset back to the start of the character it lies in.
func (t Text) boundary(i int) int {
	for i > 0 && i < len(t.s) && !utf8.RuneStart(t.s[i]) {
		i--
	}
	return i
}

// Concat joins texts without anything between them.
func Concat(parts ...Text) Text { return Join(parts, Text{}) }

// Join joins texts with sep between them.
func Join(parts []Text, sep Text) Text {
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(sep.s)
		}
		b.WriteString(p.s)
	}
	return Text{b.String()}
}
