package edit

import (
	"charm.land/bubbles/v2/key"

	"adze/tui/ui"
)

// Key is an editing key. Do returns a message for the user, usually "".
type Key struct {
	ID string // name in the configuration, after "edit."
	key.Binding
	Do func(e *Editor, w int) (say string)
}

// Keys returns the keys for every input field.
func Keys() []Key {
	move := func(id, help string, change func(e *Editor), keys ...string) Key {
		return Key{ID: id, Binding: ui.Key(help, keys...), Do: func(e *Editor, _ int) string { change(e); return "" }}
	}
	return []Key{
		{ID: "undo", Binding: ui.KeyNamed("ctrl+_", "undo", "ctrl+_", "ctrl+-", "ctrl+shift+-", "ctrl+/"), Do: undone},
		{ID: "redo", Binding: ui.Key("redo", "alt+z", "ctrl+shift+z"), Do: redone},
		move("left", "left", func(e *Editor) { e.MoveTo(e.Previous()) }, "left", "ctrl+b"),
		move("right", "right", func(e *Editor) { e.MoveTo(e.Right()) }, "right", "ctrl+f"),
		move("word-left", "word left", func(e *Editor) { e.MoveTo(e.WordLeft()) }, "alt+left", "ctrl+left", "alt+b"),
		move("word-right", "word right", func(e *Editor) { e.MoveTo(e.wordRight()) }, "alt+right", "ctrl+right", "alt+f"),
		move("line-start", "beginning of the line", func(e *Editor) { e.MoveTo(e.LineStart()) }, "ctrl+a", "home"),
		move("line-end", "end of the line", func(e *Editor) { e.MoveTo(e.LineEnd()) }, "ctrl+e", "end"),
		move("backspace", "delete before the cursor", func(e *Editor) { e.Cut(e.Previous(), e.Cursor) }, "backspace", "ctrl+h", "shift+backspace"),
		move("delete", "delete at the cursor", func(e *Editor) { e.Cut(e.Cursor, e.Right()) }, "delete", "ctrl+d"),
		move("delete-word", "delete the word before", func(e *Editor) { e.kill(e.WordLeft(), e.Cursor) }, "ctrl+w", "alt+backspace", "ctrl+backspace"),
		move("delete-word-after", "delete the word after", func(e *Editor) { e.kill(e.Cursor, e.wordRight()) }, "alt+d"),
		move("delete-to-start", "delete to the beginning", func(e *Editor) { e.kill(e.LineStart(), e.Cursor) }, "ctrl+u"),
		move("put-back", "put back what was deleted last", func(e *Editor) { e.yank() }, "alt+y"),
		move("delete-to-end", "delete to the end", func(e *Editor) { e.kill(e.Cursor, e.LineEnd()) }, "ctrl+k"),
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

// RowUp and RowDown move between a text's rows.
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
