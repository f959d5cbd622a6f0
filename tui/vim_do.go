package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// do is a command of normal mode.
func (v *vim) do(e *editor, w int, c vimCommand) (browse int) {
	switch {
	case c.op != "":
		v.operator(e, w, c)
		return 0
	case among(vimCommands, c.verb):
		v.command(e, w, c)
		return 0
	}
	m, ok := v.motion(e, w, c)
	if ok && m.browse == 0 && c.verb != "j" && c.verb != "k" { // which have moved, and keep their column
		e.moveTo(snap(e, m.to))
	}
	return m.browse
}

// operator does d, c or y to what a motion or object covers.
func (v *vim) operator(e *editor, w int, c vimCommand) {
	from, to, lines, ok := v.span(e, w, c)
	if ok {
		e.together(func() { v.operate(e, c.op, from, to, lines) })
	}
}

// span is what a command is about.
func (v *vim) span(e *editor, w int, c vimCommand) (from, to int, lines, ok bool) {
	switch {
	case c.verb == vimSame:
		return e.at, lineBelow(e, max(c.count, 1)-1).at, true, true
	case c.object != "":
		from, to, ok = object(e, c)
		return snap(e, from), snap(e, to), false, ok
	case c.op == "c" && among("w W", c.verb) && kindAt(e.text, e.at, false) != blankKind:
		return e.at, afterWords(e, max(c.count, 1), c.verb == "W"), false, true // as ce, but from the last letter, too
	}
	m, ok := v.motion(e, w, c)
	from, to = min(e.at, m.to), max(e.at, m.to)
	if m.onto && m.to >= e.at {
		end := e.copyAt(to)
		to = min(end.right(), end.lineEnd())
	}
	if among("w W", c.verb) {
		to = withoutLineEnd(e.text, from, to)
	}
	return from, to, m.lines, ok && (from < to || m.lines)
}

// afterWords is where the n-th word ends, counted from the one at the cursor.
func afterWords(e *editor, n int, big bool) int {
	at := e.at
	for i := range n {
		if i > 0 {
			at = skip(e.text, at, blankKind, big)
		}
		if at < len(e.text) {
			at = skip(e.text, at, kindAt(e.text, at, big), big)
		}
	}
	return snap(e, at)
}

// withoutLineEnd leaves out the ends of lines that a word motion passed last.
func withoutLineEnd(text string, from, to int) int {
	for {
		i := strings.LastIndexByte(text[from:to], '\n')
		if i < 0 || strings.TrimSpace(text[from+i:to]) != "" {
			return to
		}
		to = from + i
	}
}

// operate deletes, changes or copies.
func (v *vim) operate(e *editor, op string, from, to int, lines bool) {
	v.lines = lines
	if lines {
		first, last := editorAt(e.text, min(from, to)), editorAt(e.text, max(from, to))
		v.operateLines(e, op, first.lineStart(), last.lineEnd())
		return
	}
	e.killed = e.text[from:to]
	switch op {
	case "y":
		e.moveTo(from)
	case "c":
		v.enterInsert(e)
		e.cut(from, to)
	default:
		e.cut(from, to)
	}
}

func (v *vim) operateLines(e *editor, op string, from, to int) {
	e.killed = e.text[from:to] + "\n"
	switch op {
	case "y":
		e.moveTo(min(e.at, snap(e, from)))
	case "c":
		v.enterInsert(e)
		e.cut(from, to)
	default:
		switch {
		case to < len(e.text):
			to++
		case from > 0:
			from--
		}
		e.cut(from, to)
		e.moveTo(snap(e, firstLetter(e.text, e.lineStart())))
	}
}

// command is a command that is no motion.
func (v *vim) command(e *editor, w int, c vimCommand) {
	n := max(c.count, 1)
	short := map[string]vimCommand{ // those that are short for others
		"x": {op: "d", verb: "l", count: n}, "X": {op: "d", verb: "h", count: n}, "s": {op: "c", verb: "l", count: n},
		"D": {op: "d", verb: "$", count: n}, "C": {op: "c", verb: "$", count: n},
		"S": {op: "c", verb: vimSame, count: n}, "Y": {op: "y", verb: vimSame, count: n},
	}
	if long, ok := short[c.verb]; ok {
		if from, to, lines, ok := v.span(e, w, long); ok {
			e.together(func() { v.operate(e, long.op, from, to, lines) })
		} else if long.op == "c" {
			v.enterInsert(e)
		}
		return
	}
	switch c.verb {
	case "u":
		for range n {
			e.undo()
		}
	case "ctrl+r":
		for range n {
			e.redo()
		}
	case "v", "V":
		v.anchor, v.mode = e.at, map[string]vimMode{"v": vimVisual, "V": vimLines}[c.verb]
	case "r", "~", "J", "p", "P":
		e.together(func() { v.edit(e, c.verb, c.arg, n) })
	default:
		v.insert(e, c.verb)
	}
}

// insert is the ways into insert mode.
func (v *vim) insert(e *editor, verb string) {
	v.enterInsert(e)
	switch verb {
	case "a":
		e.moveTo(min(e.right(), e.lineEnd()))
	case "I":
		e.moveTo(firstLetter(e.text, e.lineStart()))
	case "A":
		e.moveTo(e.lineEnd())
	case "o":
		e.moveTo(e.lineEnd())
		e.insert("\n")
	case "O":
		e.moveTo(e.lineStart())
		e.insert("\n")
		e.moveTo(e.at - 1)
	}
}

// edit changes text without leaving normal mode.
func (v *vim) edit(e *editor, verb, arg string, n int) {
	switch verb {
	case "r":
		v.overwrite(e, n, func(string) string { return arg })
		e.moveTo(e.left())
	case "~":
		v.overwrite(e, n, otherCase)
	case "J":
		for range max(n-1, 1) {
			joinLines(e)
		}
	default:
		v.put(e, verb == "p", n)
	}
}

// overwrite changes characters of the line.
func (v *vim) overwrite(e *editor, n int, change func(string) string) {
	for range n {
		from, to := e.at, min(e.right(), e.lineEnd())
		if from >= to {
			return
		}
		e.replace(from, to, change(e.text[from:to]))
	}
}

func otherCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if unicode.IsUpper(r) {
		return string(unicode.ToLower(r)) + s[n:]
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// joinLines puts the line below behind this one.
func joinLines(e *editor) {
	end := e.lineEnd()
	if end == len(e.text) {
		return
	}
	rest := strings.TrimLeft(e.text[end+1:], " \t")
	gap := " "
	if rest == "" || rest[0] == '\n' || rest[0] == ')' || end == e.lineStart() || strings.HasSuffix(e.text[:end], " ") {
		gap = ""
	}
	e.replace(end, len(e.text)-len(rest), gap)
	e.moveTo(snap(e, end))
}

// put puts what was deleted or copied last behind the cursor, or before it.
func (v *vim) put(e *editor, behind bool, n int) {
	text := strings.Repeat(e.killed, min(n, 1+longText/max(len(e.killed), 1)))
	switch {
	case text == "":
	case v.lines && behind:
		e.moveTo(e.lineEnd())
		at := e.at + 1
		e.insert("\n" + strings.TrimSuffix(text, "\n"))
		e.moveTo(snap(e, firstLetter(e.text, min(at, len(e.text)))))
	case v.lines:
		at := e.lineStart()
		e.moveTo(at)
		e.insert(text)
		e.moveTo(snap(e, firstLetter(e.text, at)))
	default:
		if behind {
			e.moveTo(min(e.right(), e.lineEnd()))
		}
		e.insert(text)
		e.moveTo(e.left())
	}
}
