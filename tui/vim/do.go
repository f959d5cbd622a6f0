package vim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/tui/edit"
)

// do runs a normal-mode command.
func (v *Keys) do(e *edit.Editor, w int, c command) (browse int) {
	switch {
	case c.op != "":
		v.operator(e, w, c)
		return 0
	case contains(commands, c.verb):
		v.command(e, w, c)
		return 0
	}
	m, ok := v.motion(e, w, c)
	if ok && m.browse == 0 && c.verb != "j" && c.verb != "k" { // j and k have already moved and keep their column
		e.MoveTo(snap(e, m.target))
	}
	return m.browse
}

// operator applies d, c or y to a motion or object.
func (v *Keys) operator(e *edit.Editor, w int, c command) {
	from, to, lines, ok := v.span(e, w, c)
	if ok {
		e.AsOneChange(func() { v.operate(e, c.op, from, to, lines) })
	}
}

// span returns a command's range.
func (v *Keys) span(e *edit.Editor, w int, c command) (from, to int, lines, ok bool) {
	switch {
	case c.verb == same:
		return e.Cursor, lineBelow(e, max(c.count, 1)-1).Cursor, true, true
	case c.object != "":
		from, to = wordObject(e, c.verb == "W", c.object == "a")
		return snap(e, from), snap(e, to), false, from < to
	case c.op == "c" && contains("w W", c.verb) && kindAt(e.Text, e.Cursor, false) != blankKind:
		return e.Cursor, afterWords(e, max(c.count, 1), c.verb == "W"), false, true // like ce, but also from a word's last letter
	}
	m, ok := v.motion(e, w, c)
	from, to = min(e.Cursor, m.target), max(e.Cursor, m.target)
	if m.onto && m.target >= e.Cursor {
		end := e.CopyAt(to)
		to = min(end.Right(), end.LineEnd())
	}
	if contains("w W", c.verb) {
		to = withoutLineEnd(e.Text, from, to)
	}
	return from, to, m.lines, ok && (from < to || m.lines)
}

// afterWords returns where the n-th word ends, counted from the one at the cursor.
func afterWords(e *edit.Editor, n int, big bool) int {
	at := e.Cursor
	for i := range n {
		if i > 0 {
			at = skip(e.Text, at, blankKind, big)
		}
		if at < len(e.Text) {
			at = skip(e.Text, at, kindAt(e.Text, at, big), big)
		}
	}
	return snap(e, at)
}

// withoutLineEnd excludes line ends that a word motion has passed at the end.
func withoutLineEnd(text string, from, to int) int {
	for {
		i := strings.LastIndexByte(text[from:to], '\n')
		if i < 0 || strings.TrimSpace(text[from+i:to]) != "" {
			return to
		}
		to = from + i
	}
}

// operate deletes, changes or copies a range.
func (v *Keys) operate(e *edit.Editor, op string, from, to int, lines bool) {
	v.lines = lines
	if lines {
		first, last := edit.New(e.Text, min(from, to)), edit.New(e.Text, max(from, to))
		v.operateLines(e, op, first.LineStart(), last.LineEnd())
		return
	}
	e.Killed = e.Text[from:to]
	switch op {
	case "y":
		e.MoveTo(from)
	case "c":
		v.enterInsert(e)
		e.Cut(from, to)
	default:
		e.Cut(from, to)
	}
}

func (v *Keys) operateLines(e *edit.Editor, op string, from, to int) {
	e.Killed = e.Text[from:to] + "\n"
	switch op {
	case "y":
		e.MoveTo(min(e.Cursor, snap(e, from)))
	case "c":
		v.enterInsert(e)
		e.Cut(from, to)
	default:
		switch {
		case to < len(e.Text):
			to++
		case from > 0:
			from--
		}
		e.Cut(from, to)
		e.MoveTo(snap(e, firstLetter(e.Text, e.LineStart())))
	}
}

// command runs a command that is no motion.
func (v *Keys) command(e *edit.Editor, w int, c command) {
	n := max(c.count, 1)
	short := map[string]command{ // abbreviations
		"x": {op: "d", verb: "l", count: n}, "X": {op: "d", verb: "h", count: n}, "s": {op: "c", verb: "l", count: n},
		"D": {op: "d", verb: "$", count: n}, "C": {op: "c", verb: "$", count: n},
		"S": {op: "c", verb: same, count: n}, "Y": {op: "y", verb: same, count: n},
	}
	if long, ok := short[c.verb]; ok {
		if from, to, lines, ok := v.span(e, w, long); ok {
			e.AsOneChange(func() { v.operate(e, long.op, from, to, lines) })
		} else if long.op == "c" {
			v.enterInsert(e)
		}
		return
	}
	switch c.verb {
	case "u":
		for range n {
			e.Undo()
		}
	case "ctrl+r":
		for range n {
			e.Redo()
		}
	case "r", "~", "J", "p", "P":
		e.AsOneChange(func() { v.edit(e, c.verb, c.arg, n) })
	default:
		v.insert(e, c.verb)
	}
}

// insert enters insert mode.
func (v *Keys) insert(e *edit.Editor, verb string) {
	v.enterInsert(e)
	switch verb {
	case "a":
		e.MoveTo(min(e.Right(), e.LineEnd()))
	case "I":
		e.MoveTo(firstLetter(e.Text, e.LineStart()))
	case "A":
		e.MoveTo(e.LineEnd())
	case "o":
		e.MoveTo(e.LineEnd())
		e.Insert("\n")
	case "O":
		e.MoveTo(e.LineStart())
		e.Insert("\n")
		e.MoveTo(e.Cursor - 1)
	}
}

// edit changes text without leaving normal mode.
func (v *Keys) edit(e *edit.Editor, verb, arg string, n int) {
	switch verb {
	case "r":
		v.overwrite(e, n, func(string) string { return arg })
		e.MoveTo(e.Previous())
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
func (v *Keys) overwrite(e *edit.Editor, n int, change func(string) string) {
	for range n {
		from, to := e.Cursor, min(e.Right(), e.LineEnd())
		if from >= to {
			return
		}
		e.Replace(from, to, change(e.Text[from:to]))
	}
}

func otherCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if unicode.IsUpper(r) {
		return string(unicode.ToLower(r)) + s[n:]
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// joinLines joins the next line to this one.
func joinLines(e *edit.Editor) {
	end := e.LineEnd()
	if end == len(e.Text) {
		return
	}
	rest := strings.TrimLeft(e.Text[end+1:], " \t")
	gap := " "
	if rest == "" || rest[0] == '\n' || rest[0] == ')' || end == e.LineStart() || strings.HasSuffix(e.Text[:end], " ") {
		gap = ""
	}
	e.Replace(end, len(e.Text)-len(rest), gap)
	e.MoveTo(snap(e, end))
}

// put inserts the last deleted or copied text after or before the cursor.
func (v *Keys) put(e *edit.Editor, behind bool, n int) {
	text := strings.Repeat(e.Killed, min(n, 1+edit.Long/max(len(e.Killed), 1)))
	switch {
	case text == "":
	case v.lines && behind:
		e.MoveTo(e.LineEnd())
		at := e.Cursor + 1
		e.Insert("\n" + strings.TrimSuffix(text, "\n"))
		e.MoveTo(snap(e, firstLetter(e.Text, min(at, len(e.Text)))))
	case v.lines:
		at := e.LineStart()
		e.MoveTo(at)
		e.Insert(text)
		e.MoveTo(snap(e, firstLetter(e.Text, at)))
	default:
		if behind {
			e.MoveTo(min(e.Right(), e.LineEnd()))
		}
		e.Insert(text)
		e.MoveTo(e.Previous())
	}
}
