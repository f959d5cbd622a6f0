package tui

// editorKey is a key that changes a text or moves in it. What it says is for the person; mostly nothing.
type editorKey struct {
	keys  []string
	label string
	help  string
	do    func(e *editor, w int) (say string)
}

// editorKeys are those of every text that is written.
func editorKeys() []editorKey {
	key := func(help string, change func(e *editor), keys ...string) editorKey {
		return editorKey{keys: keys, help: help, do: func(e *editor, _ int) string { change(e); return "" }}
	}
	return []editorKey{
		{keys: []string{"ctrl+_", "ctrl+-", "ctrl+shift+-", "ctrl+/"}, label: "ctrl+_", help: "undo", do: undone},
		{keys: []string{"alt+z", "ctrl+shift+z"}, help: "redo", do: redone},
		key("left", func(e *editor) { e.moveTo(e.left()) }, "left", "ctrl+b"),
		key("right", func(e *editor) { e.moveTo(e.right()) }, "right", "ctrl+f"),
		key("word left", func(e *editor) { e.moveTo(e.wordLeft()) }, "alt+left", "ctrl+left", "alt+b"),
		key("word right", func(e *editor) { e.moveTo(e.wordRight()) }, "alt+right", "ctrl+right", "alt+f"),
		key("beginning of the line", func(e *editor) { e.moveTo(e.lineStart()) }, "ctrl+a", "home"),
		key("end of the line", func(e *editor) { e.moveTo(e.lineEnd()) }, "ctrl+e", "end"),
		key("delete before the cursor", func(e *editor) { e.cut(e.left(), e.at) }, "backspace", "ctrl+h", "shift+backspace"),
		key("delete at the cursor", func(e *editor) { e.cut(e.at, e.right()) }, "delete", "ctrl+d"),
		key("delete the word before", func(e *editor) { e.kill(e.wordLeft(), e.at) }, "ctrl+w", "alt+backspace"),
		key("delete the word after", func(e *editor) { e.kill(e.at, e.wordRight()) }, "alt+d"),
		key("delete to the beginning", func(e *editor) { e.kill(e.lineStart(), e.at) }, "ctrl+u"),
		key("put back what was deleted last", func(e *editor) { e.yank() }, "alt+y"),
		key("delete to the end", func(e *editor) { e.kill(e.at, e.lineEnd()) }, "ctrl+k"),
	}
}

func undone(e *editor, _ int) string {
	if !e.undo() {
		return "nothing to undo"
	}
	return ""
}

func redone(e *editor, _ int) string {
	if !e.redo() {
		return "nothing to redo"
	}
	return ""
}

func rowUp(e *editor, w int) string {
	if !e.vertical(w, -1) {
		return "nothing older"
	}
	return ""
}

func rowDown(e *editor, w int) string {
	e.vertical(w, 1)
	return ""
}
