package edit

// Key is a key that changes a text or moves in it. What it says is for the person; mostly nothing.
type Key struct {
	Keys  []string
	Label string
	Help  string
	Do    func(e *Editor, w int) (say string)
}

// Keys are those of every text that is written.
func Keys() []Key {
	key := func(help string, change func(e *Editor), keys ...string) Key {
		return Key{Keys: keys, Help: help, Do: func(e *Editor, _ int) string { change(e); return "" }}
	}
	return []Key{
		{Keys: []string{"ctrl+_", "ctrl+-", "ctrl+shift+-", "ctrl+/"}, Label: "ctrl+_", Help: "undo", Do: undone},
		{Keys: []string{"alt+z", "ctrl+shift+z"}, Help: "redo", Do: redone},
		key("left", func(e *Editor) { e.MoveTo(e.Left()) }, "left", "ctrl+b"),
		key("right", func(e *Editor) { e.MoveTo(e.Right()) }, "right", "ctrl+f"),
		key("word left", func(e *Editor) { e.MoveTo(e.WordLeft()) }, "alt+left", "ctrl+left", "alt+b"),
		key("word right", func(e *Editor) { e.MoveTo(e.wordRight()) }, "alt+right", "ctrl+right", "alt+f"),
		key("beginning of the line", func(e *Editor) { e.MoveTo(e.LineStart()) }, "ctrl+a", "home"),
		key("end of the line", func(e *Editor) { e.MoveTo(e.LineEnd()) }, "ctrl+e", "end"),
		key("delete before the cursor", func(e *Editor) { e.Cut(e.Left(), e.At) }, "backspace", "ctrl+h", "shift+backspace"),
		key("delete at the cursor", func(e *Editor) { e.Cut(e.At, e.Right()) }, "delete", "ctrl+d"),
		key("delete the word before", func(e *Editor) { e.kill(e.WordLeft(), e.At) }, "ctrl+w", "alt+backspace"),
		key("delete the word after", func(e *Editor) { e.kill(e.At, e.wordRight()) }, "alt+d"),
		key("delete to the beginning", func(e *Editor) { e.kill(e.LineStart(), e.At) }, "ctrl+u"),
		key("put back what was deleted last", func(e *Editor) { e.yank() }, "alt+y"),
		key("delete to the end", func(e *Editor) { e.kill(e.At, e.LineEnd()) }, "ctrl+k"),
	}
}

func undone(e *Editor, _ int) string {
	if !e.Undo() {
		return "nothing to undo"
	}
	return ""
}

func redone(e *Editor, _ int) string {
	if !e.Redo() {
		return "nothing to redo"
	}
	return ""
}

// RowUp and RowDown move between the rows of a text that has several.
func RowUp(e *Editor, w int) string {
	if !e.Vertical(w, -1) {
		return "nothing older"
	}
	return ""
}

func RowDown(e *Editor, w int) string {
	e.Vertical(w, 1)
	return ""
}
