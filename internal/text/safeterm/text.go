// Package safeterm makes foreign text safe for a terminal.
//
// Foreign text is any text not written by this program: model output, file contents and names,
// command output, web pages, server errors. A terminal obeys some of it: it moves the cursor,
// writes the clipboard, types answers into the prompt. And some misleads users: right-to-left text,
// text without width, or text hidden by an overwrite.
//
// The one rule: only this package's functions create a [Text], and it contains no control
// characters except newline and tab. Drawing code takes Text, so unsafe text does not compile.
//
// Functions by purpose:
//
//	Clean   prose, answers         sequences and hidden characters dropped, emoji kept whole
//	Stream  prose in pieces        as Clean; the same result however the text is cut
//	Output  command output         as Clean, and a carriage return overwrites its line
//	Reveal  diffs, code, commands  nothing dropped: every such character shown as <U+XXXX>
//	Name    names, titles, paths   as Reveal on one line: newline and tab are shown too
//	Fixed   our own constants
//
// Start reading at machine.go.
//
// Known limits: lookalike letters (Cyrillic а for Latin a) pass. In text with an 8-bit code page,
// the bytes 0x80-0x9F count as the controls of an 8-bit terminal, so decode such text first. Emoji
// keep their variation selectors, whose width differs between terminals.
package safeterm

import (
	"strings"
	"unicode/utf8"
)

// Text is safe for a terminal: valid UTF-8 without control characters other than newline and tab,
// without bidirectional controls, tags, or stray zero-width characters. The zero value is empty.
type Text struct{ s string }

// constant accepts only constants: an untyped constant converts implicitly, a string variable does
// not.
type constant string

// Fixed returns a constant as Text; variables do not compile.
func Fixed(s constant) Text { return Clean(string(s)) }

// Clean makes prose safe. It drops escape sequences, controls and hidden characters, and turns a
// lone carriage return into a newline. Emoji and joining scripts keep their joiners.
func Clean(s string) Text { return whole(prose, s) }

// Output makes command output safe. Unlike Clean, it lets a lone carriage return overwrite its line
// and a backspace erase a character, as on a terminal, so a progress bar keeps only its last state.
func Output(s string) Text { return whole(output, s) }

// Reveal makes text safe without hiding anything: diffs, code, commands to approve. Every hidden
// character and every control (but newline, tab, and the carriage return in a line end) becomes
// <U+XXXX>; escape sequences are shown, not interpreted.
func Reveal(s string) Text { return whole(reveal, s) }

// Name makes a name, path or title safe on one line: as Reveal, with a newline shown as ⏎ and a tab
// written out.
func Name(s string) Text { return whole(name, s) }

// whole cleans a complete text; plain ASCII is returned uncopied.
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

// Lines splits at newlines, which are removed; an empty Text is one empty line.
func (t Text) Lines() []Text {
	parts := strings.Split(t.s, "\n")
	lines := make([]Text, len(parts))
	for i, p := range parts {
		lines[i] = Text{p}
	}
	return lines
}

// Slice returns the bytes from..to. An offset inside a character moves back to its start, since
// part of a character could be read as a control.
func (t Text) Slice(from, to int) Text {
	return Text{t.s[t.boundary(from):t.boundary(to)]}
}

func (t Text) boundary(i int) int {
	for i > 0 && i < len(t.s) && !utf8.RuneStart(t.s[i]) {
		i--
	}
	return i
}

// Concat joins texts without a separator.
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
