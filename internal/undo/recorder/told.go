package recorder

import (
	"fmt"

	"adze/session"
)

// Note returns the note about an undo for the model.
func Note(u session.UndoData) session.Note {
	verb := "undid what earlier turns of this conversation did to files"
	if u.Redo != "" {
		verb = "took back an undo, so that files are again as earlier turns of this conversation left them"
	}
	count := ""
	if u.Done > 0 { // else interrupted, and not counted
		count = ": " + paths(u.Done) + " changed"
	}
	text := fmt.Sprintf("The person %s%s. Read files again before you rely on what you know of them, and do not do again what was undone unless they ask for it.", verb, count)
	var names []string
	for _, c := range u.Changes {
		if len(names) < 20 && !c.Git {
			names = append(names, c.Path)
		}
	}
	if len(names) > 0 {
		text += "\nAmong them: " + join(names)
	}
	return session.Note{Kind: session.UndoNote, Source: "undo", Text: text}
}

// UndoNotes returns the notes about undos since the last prompt.
func UndoNotes(entries []session.Entry) (out []session.Note) {
	for _, e := range entries {
		switch e.Type {
		case session.MessageEntry:
			_ = decoded(e, func(m session.Message) {
				if m.Role == session.User && !m.Note {
					out = nil
				}
			})
		case session.UndoEntry:
			_ = decoded(e, func(u session.UndoData) {
				if u.Stage() == session.UndoDone && u.Done > 0 {
					out = append(out, Note(u))
				}
			})
		}
	}
	return out
}
