package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/tui/permission"
	"adze/tui/ui"
)

func (q *questions) dialogKeys(e commonKeys) []binding {
	return []binding{
		{id: "dialog.once", action: allowOnce, scope: inDialog, Binding: ui.Key("yes, this once; of a staged turn: take all its changes", "y"), can: func() string { return q.dialog.Unseen() }, run: q.answered(func(d *permission.Dialog) { d.Answer(ask.Answer{Choice: ask.Once}) })},
		{id: "dialog.all", action: allowAll, scope: inDialog, Binding: ui.Key("all like this, by the rule shown", "a"), can: q.canGrant, run: q.allowAll},
		{id: "dialog.other", action: otherRule, scope: inDialog, Binding: ui.Key("another rule: narrower, wider, or kept for all sessions", "tab"), can: func() string { return ui.ReasonIf(q.dialog.OtherGrants() == 0, "there is no other rule for this call") }, run: keyFunc(func() { q.dialog.Another() })},
		{id: "dialog.edit", action: editCall, scope: inDialog, Binding: ui.Key("edit: rewrite the command, or choose hunks of the change", "e"), can: q.canEdit, run: keyFunc(q.edit)},
		{id: "dialog.deny", action: deny, scope: inDialog, Binding: ui.Key("no, with a reason if you type one; of a staged turn: drop all its changes", "n"), run: keyFunc(func() { q.dialog.Explain(true) })},
		{id: "dialog.refuse", action: denyAtOnce, scope: inDialog, Binding: ui.Key("no, without a reason", "N"), can: func() string { return ui.ReasonIf(q.dialog.Stage(), "press "+q.label(deny)) }, run: q.answered((*permission.Dialog).Refuse)},
		{id: "stop", action: stop, scope: inDialog, Binding: ui.Key("no, and stop the agent", "esc"), run: e.stop},
		{id: "mode", action: chooseMode, scope: inDialog, Binding: ui.Key("the next permission mode", "shift+tab"), can: func() string { return q.settings.canModes() }, run: func() tea.Cmd { return q.settings.nextMode() }},
		{action: send, scope: inDialog, Binding: ui.Key("not an answer: too easy to press by accident", "enter"), can: func() string { return "press " + q.label(allowOnce) + " or " + q.label(deny) }},
		{id: "page-up", action: pageUp, scope: inDialog, Binding: ui.KeyNamed("PgUp", "scroll the question", "pgup"), run: q.scroll(-5)},
		{id: "page-down", action: pageDown, scope: inDialog, Binding: ui.KeyNamed("PgDn", "scroll the question", "pgdown", "space"), run: q.scroll(5)},
		{id: "dialog.up", action: lineUp, scope: inDialog, Binding: ui.Key("a row up", "up"), run: q.scroll(-1)},
		{id: "dialog.down", action: lineDown, scope: inDialog, Binding: ui.Key("a row down", "down"), run: q.scroll(1)},

		{id: "reason.send", action: sendReason, scope: inReason, Binding: ui.Key("no, with this reason, or without one", "enter"), run: q.answered((*permission.Dialog).Refuse)},
		{id: "reason.back", action: leaveReason, scope: inReason, Binding: ui.Key("back to the question", "esc"), run: keyFunc(func() { q.dialog.Explain(false) })},
	}
}

// changeKeys returns the keys for rewriting a call's text.
func (q *questions) changeKeys() []binding {
	return []binding{
		{id: "change.send", action: dialogSend, scope: inText, Binding: ui.Key("run it as written now", "enter"), can: func() string { return q.dialog.Blank() }, run: q.answered((*permission.Dialog).Changed)},
		{id: "change.line", action: dialogLine, scope: inText, Binding: ui.Key("new line", "ctrl+j", "alt+enter", "shift+enter"), run: keyFunc(func() { q.dialog.Text.Insert("\n") })},
		{id: "reason.back", action: leaveReason, scope: inText, Binding: ui.Key("back to the question", "esc"), run: keyFunc(func() { q.dialog.Change(false) })},
	}
}

// hunkKeys returns the keys for choosing hunks.
func (q *questions) hunkKeys() []binding {
	move := func(by int) func() tea.Cmd { return keyFunc(func() { q.dialog.Move(by) }) }
	return []binding{
		{id: "hunks.down", action: nextHunk, scope: inHunks, Binding: ui.Key("the next hunk", "down"), run: move(1)},
		{id: "hunks.up", action: editKey, scope: inHunks, Binding: ui.Key("the hunk before", "up"), run: move(-1)},
		{id: "hunks.refuse", action: flipHunk, scope: inHunks, Binding: ui.Key("keep or drop the hunk", "space"), run: keyFunc(func() { q.dialog.Flip() })},
		{id: "change.send", action: dialogSend, scope: inHunks, Binding: ui.Key("make the change with the hunks kept; none kept: no", "enter"), can: q.canPart, run: q.answered((*permission.Dialog).Part)},
		{id: "dialog.deny", action: deny, scope: inHunks, Binding: ui.Key("tell the model why you dropped hunks", "n"), can: func() string { return ui.ReasonIf(q.dialog.Refused() == 0, "drop a hunk first: "+q.label(flipHunk)) }, run: keyFunc(func() { q.dialog.Explain(true) })},
		{id: "page-up", action: pageUp, scope: inHunks, Binding: ui.KeyNamed("PgUp", "scroll the change", "pgup"), run: q.scroll(-5)},
		{id: "page-down", action: pageDown, scope: inHunks, Binding: ui.KeyNamed("PgDn", "scroll the change", "pgdown"), run: q.scroll(5)},
		{id: "reason.back", action: leaveReason, scope: inHunks, Binding: ui.Key("back to the question", "esc"), run: keyFunc(func() { q.dialog.Split(false) })},
	}
}

func (q *questions) canEdit() string {
	return ui.ReasonIf(!q.dialog.Edits() && q.dialog.Parts() < 2, "this call has no command to rewrite, and no hunks to choose from")
}

// edit opens the call's command, or the hunks of its change.
func (q *questions) edit() {
	if q.dialog.Edits() {
		q.dialog.Change(true)
	} else {
		q.dialog.Split(true)
	}
}

// canPart returns why the change cannot be made yet without the refused hunks, or "". Refusing all
// hunks is always possible.
func (q *questions) canPart() string {
	if q.dialog.Refused() == q.dialog.Parts() {
		return ""
	}
	return q.dialog.Unseen()
}

func (q *questions) canGrant() string {
	if !q.dialog.Grants() {
		return q.dialog.NoRule()
	}
	return q.dialog.Unseen()
}

// allowAll allows all calls like this one and names a consequence that the question did not show.
func (q *questions) allowAll() tea.Cmd {
	file, edits := q.dialog.RuleFile(), q.dialog.OfEdits()
	q.dialog.All()
	switch {
	case file != "":
		q.showMessage("the rule is kept in " + file)
	case edits:
		q.showMessage("edits in this folder are no longer asked; " + q.label(chooseMode) + " changes that")
	}
	return nil
}

// answered returns a handler that answers the dialog.
func (q *questions) answered(how func(*permission.Dialog)) func() tea.Cmd {
	return keyFunc(func() { how(q.dialog) })
}

func (q *questions) scroll(by int) func() tea.Cmd {
	return keyFunc(func() { q.dialog.Scroll(by) })
}

// keyFunc adapts a function without a follow-up to a key handler.
func keyFunc(do func()) func() tea.Cmd {
	return func() tea.Cmd { do(); return nil }
}
