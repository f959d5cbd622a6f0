package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/permission"
	"adze/tui/ui"
)

func dialogKeys() []binding {
	return []binding{
		{id: "dialog.once", action: allowOnce, scope: inDialog, Binding: ui.Key("allow this once", "y"), can: canAllow, do: answer(permission.Once)},
		{id: "dialog.session", action: allowSession, scope: inDialog, Binding: ui.Key("allow by the rule shown, in this session", "s"), can: canGrant, do: answer(permission.ForSession)},
		{id: "dialog.always", action: allowAlways, scope: inDialog, Binding: ui.Key("allow by the rule shown, and save it for all sessions", "a"), can: canSave, do: allowForEver},
		{id: "dialog.other", action: otherRule, scope: inDialog, Binding: ui.Key("see another rule: narrower, or wider", "tab"), can: canAnother, do: seeAnother},
		{id: "dialog.try", action: tryAside, scope: inDialog, Binding: ui.Key("run it aside, see what it changes, then decide", "t"), can: canTry, do: answer(permission.Try)},
		{id: "dialog.change", action: changeCall, scope: inDialog, Binding: ui.Key("change the command, and allow it so", "c"), can: canChange, do: openChange},
		{id: "dialog.hunks", action: splitHunks, scope: inDialog, Binding: ui.Key("allow some hunks of the change and refuse others", "h"), can: canSplit, do: openHunks},
		{id: "dialog.deny", action: deny, scope: inDialog, Binding: ui.Key("deny", "n"), do: answer(permission.Deny)},
		{id: "dialog.why", action: denyWhy, scope: inDialog, Binding: ui.Key("deny and tell the model why", "e"), do: (*model).giveReason},
		{id: "stop", action: stop, scope: inDialog, Binding: ui.Key("deny and stop the agent", "esc"), do: (*model).stop},
		{id: "interrupt", action: quit, scope: inDialog, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "help", action: showHelp, scope: inDialog, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{action: send, scope: inDialog, Binding: ui.Key("does not answer: too easily pressed", "enter"), can: noEnter},
		{id: "page-up", action: pageUp, scope: inDialog, Binding: ui.KeyNamed("PgUp", "see more of the question", "pgup"), do: scrollDialog(-5)},
		{id: "page-down", action: pageDown, scope: inDialog, Binding: ui.KeyNamed("PgDn", "see more of the question", "pgdown", "space"), do: scrollDialog(5)},
		{id: "dialog.up", action: lineUp, scope: inDialog, Binding: ui.Key("a row up", "up"), do: scrollDialog(-1)},
		{id: "dialog.down", action: lineDown, scope: inDialog, Binding: ui.Key("a row down", "down"), do: scrollDialog(1)},

		{id: "reason.send", action: sendReason, scope: inReason, Binding: ui.Key("deny with this reason", "enter"), do: (*model).denyBecause},
		{id: "reason.back", action: leaveReason, scope: inReason, Binding: ui.Key("back to the question", "esc"), do: (*model).dropReason},
		{id: "help", action: showHelp, scope: inReason, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "interrupt", action: quit, scope: inReason, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
	}
}

// changeKeys act while the text of a call is rewritten.
func changeKeys() []binding {
	return []binding{
		{id: "change.send", action: dialogSend, scope: inText, Binding: ui.Key("allow it as it is written now", "enter"), can: func(m *model) string { return m.dialog.Blank() }, do: answered((*permission.Dialog).Changed)},
		{id: "change.line", action: dialogLine, scope: inText, Binding: ui.Key("new line", "ctrl+j", "alt+enter", "shift+enter"), do: inEditor(func(e *edit.Editor, _ int) string { e.Insert("\n"); return "" })},
		{id: "reason.back", action: leaveReason, scope: inText, Binding: ui.Key("back to the question", "esc"), do: func(m *model) tea.Cmd { m.dialog.Change(false); return nil }},
		{id: "help", action: showHelp, scope: inText, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "interrupt", action: quit, scope: inText, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
	}
}

// hunkKeys act while the hunks of a change are chosen.
func hunkKeys() []binding {
	return []binding{
		{id: "hunks.down", action: nextHunk, scope: inHunks, Binding: ui.Key("the next hunk", "down"), do: moveHunk(1)},
		{id: "hunks.up", action: editKey, scope: inHunks, Binding: ui.Key("the hunk before", "up"), do: moveHunk(-1)},
		{id: "hunks.refuse", action: flipHunk, scope: inHunks, Binding: ui.Key("refuse the hunk, or keep it after all", "space"), do: func(m *model) tea.Cmd { m.dialog.Flip(); return nil }},
		{id: "change.send", action: dialogSend, scope: inHunks, Binding: ui.Key("make the change without what was refused; all refused: deny", "enter"), can: canPart, do: answered((*permission.Dialog).Part)},
		{id: "dialog.why", action: denyWhy, scope: inHunks, Binding: ui.Key("tell the model why hunks were refused", "e"), can: canSayWhy, do: (*model).giveReason},
		{id: "page-up", action: pageUp, scope: inHunks, Binding: ui.KeyNamed("PgUp", "see more of the change", "pgup"), do: scrollDialog(-5)},
		{id: "page-down", action: pageDown, scope: inHunks, Binding: ui.KeyNamed("PgDn", "see more of the change", "pgdown"), do: scrollDialog(5)},
		{id: "reason.back", action: leaveReason, scope: inHunks, Binding: ui.Key("back to the question", "esc"), do: func(m *model) tea.Cmd { m.dialog.Split(false); return nil }},
		{id: "help", action: showHelp, scope: inHunks, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "interrupt", action: quit, scope: inHunks, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
	}
}

func canChange(m *model) string {
	if !m.dialog.Edits() {
		return "this call has no command that could be changed here: it is allowed as it is or not at all"
	}
	return ""
}

func canTry(m *model) string {
	if !m.dialog.Tries() {
		return "only a command that the sandbox can hold apart runs aside: adze doctor says what is missing"
	}
	return canAllow(m)
}

func canSplit(m *model) string {
	if m.dialog.Parts() < 2 {
		return "there are no hunks to choose from: it is allowed whole or not at all"
	}
	return ""
}

func canSayWhy(m *model) string {
	if m.dialog.Refused() == 0 {
		return "refuse a hunk first: " + m.keys.label(flipHunk)
	}
	return ""
}

// canPart says why the change cannot be made without the refused hunks yet. All of them can be
// refused at any time.
func canPart(m *model) string {
	if m.dialog.Refused() == m.dialog.Parts() {
		return ""
	}
	return m.dialog.Unseen()
}

func openChange(m *model) tea.Cmd { m.dialog.Change(true); return nil }
func openHunks(m *model) tea.Cmd  { m.dialog.Split(true); return nil }

func moveHunk(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.dialog.Move(by); return nil }
}

// answered has the dialog answer, and what waits behind it be looked at before keys answer that.
func answered(how func(*permission.Dialog)) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		how(m.dialog)
		m.seen()
		return m.guardTimer()
	}
}
