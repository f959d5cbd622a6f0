package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/firstrun"
	"adze/tui/permission"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// action identifies the effect of a key.
type action uint8

// Actions; hints and help look up keys by them.
const (
	send action = iota
	newline
	stop
	quit
	suspend
	drawAgain
	showHelp
	expand
	toggleTodos
	pageUp
	pageDown
	lineUp
	lineDown
	toTop
	toBottom
	editKey
	allowOnce
	deny
	denyAtOnce
	sendReason
	leaveReason
	closeHelp
	steerNow
	takeChoice
	closePane
	nextPart
	openPane
	cancelOneCall
	copyLast
	editOutside
	allowAll
	editCall
	chooseMode
	otherRule
	openCopy
	endMarked
	sendReply
	flipHunk
	nextHunk
	dialogSend
	dialogLine
	netKey
)

// scope identifies the part of the screen that receives keys.
type scope uint8

const (
	inPrompt scope = iota
	inDialog
	inReason
	inText
	inHunks
	inHelp
	inView
	inPicker
	inFirst
	inKey
	inInquiry
	scopes
)

// writes reports whether letters insert text.
func (s scope) writes() bool {
	return s == inHelp || s == inPrompt || s == inReason || s == inText || s == inPicker || s == inFirst || s == inKey || s == inInquiry
}

// answers reports whether the scope belongs to a question.
func (s scope) answers() bool {
	return s == inDialog || s == inReason || s == inText || s == inHunks || s == inInquiry
}

// part is the section of help that lists a key.
type part uint8

const (
	general part = iota
	panes
	completing
	editing
)

// binding is a row of the key table.
type binding struct {
	// id names the row in the configuration; if empty, its keys are fixed. Rows with the same
	// meaning in several scopes share an id.
	id     string
	action action
	scope  scope
	part   part
	key.Binding
	// can returns why the key is unavailable, or "". A nil can means always available.
	can func() string
	run func() tea.Cmd
}

func (b *binding) disabled() string {
	if b.can == nil {
		return ""
	}
	return b.can()
}

// keymap finds bindings by key. If several match, the first available one wins.
type keymap struct {
	table []binding
	index [scopes]map[string][]*binding
}

// newKeymap builds a keymap from table after applying the user's bindings.
func newKeymap(table []binding, bound map[string][]string) (k *keymap, warnings []string) {
	k = &keymap{table: table}
	if len(bound) > 0 {
		warnings = rebind(k.table, bound)
	}
	for i := range k.index {
		k.index[i] = map[string][]*binding{}
	}
	for i := range k.table {
		b := &k.table[i]
		for _, key := range b.Keys() {
			k.index[b.scope][key] = append(k.index[b.scope][key], b)
		}
	}
	return k, warnings
}

// label returns the hint for an action's key.
func (k *keymap) label(a action) string {
	for i := range k.table {
		if k.table[i].action == a {
			return k.table[i].name()
		}
	}
	return ""
}

// labelOf returns the hint for a row's key.
func (k *keymap) labelOf(id string) string {
	for i := range k.table {
		if k.table[i].id == id {
			return k.table[i].name()
		}
	}
	return ""
}

// hint returns the label of the action's first available key.
func (k *keymap) hint(a action) string {
	for i := range k.table {
		if b := &k.table[i]; b.action == a && b.disabled() == "" {
			return b.name()
		}
	}
	return k.label(a)
}

// ofDialog returns the key labels for the permission dialog.
func (k *keymap) ofDialog() permission.Labels {
	return permission.Labels{Once: k.label(allowOnce), All: k.label(allowAll), Other: k.label(otherRule), Edit: k.label(editCall), No: k.label(deny), Refuse: k.label(denyAtOnce), Stop: k.label(stop),
		Down: k.label(pageDown), Up: k.label(pageUp), Mode: k.label(chooseMode), Send: k.label(dialogSend), Back: k.label(leaveReason),
		Line: k.label(dialogLine), Flip: k.label(flipHunk), Next: k.label(nextHunk)}
}

// ofFirst returns the key labels for the setup screen.
func (k *keymap) ofFirst() firstrun.Labels {
	return firstrun.Labels{Give: k.labelOf("key.give"), Back: k.labelOf("key.back"), Up: k.label(pageUp), Down: k.label(pageDown)}
}

func (b *binding) name() string { return ui.KeyName(b.Binding) }

// find returns the available binding for a key, or why there is none; both are zero for an unknown
// key.
func (k *keymap) find(s scope, key string) (b *binding, reason string) {
	for _, b := range k.index[s][key] {
		why := b.disabled()
		if why == "" {
			return b, ""
		}
		if reason == "" {
			reason = why
		}
	}
	return nil, reason
}

// commonKeys holds handlers shared by all scopes, and what ctrl+c does.
type commonKeys struct {
	stop, interrupt, help func() tea.Cmd
	ctrlC                 string
}

// keys returns the keys that every question and list has.
func (e commonKeys) keys(s scope) []binding {
	return []binding{
		{id: "help", action: showHelp, scope: s, Binding: ui.KeyNamed("F1", "all keys", "f1"), run: e.help},
		{id: "interrupt", action: quit, scope: s, Binding: ui.Key(e.ctrlC, "ctrl+c"), run: e.interrupt},
	}
}

// bindings returns the key table, used by help and input. Hints prefer earlier rows.
func (m *model) bindings() []binding {
	e := commonKeys{m.stopper.stop, m.stopper.interrupt, m.help.open, map[bool]string{true: "twice: quit", false: "stop the agent; twice: quit"}[m.first.shown()]}
	redraw := binding{id: "redraw", action: drawAgain, Binding: ui.Key("draw the screen again", "ctrl+l"), run: m.window.drawAgain}
	newline := binding{id: "newline", action: newline, Binding: ui.Key("new line (also: a backslash, then send)", "ctrl+j", "alt+enter", "shift+enter"), run: m.inEditor(func(e *edit.Editor, _ int) string { e.Insert("\n"); return "" })}
	return slices.Concat(m.composer.menuKeys(), m.mainKeys(e, redraw, newline), m.paneKeys(inPrompt),
		[]binding{
			{id: "todos", action: toggleTodos, part: panes, Binding: ui.Key("show todos, jobs and subagents, or hide them", "ctrl+t"), can: m.workPane.can, run: m.workPane.toggle},
			{id: "mode", action: chooseMode, part: panes, Binding: ui.Key("the next permission mode; /mode lists them", "shift+tab"), can: m.settings.canModes, run: m.settings.nextMode},
		},
		m.conversation.keys(m.composer.empty), m.rowKeys(inPrompt), m.editKeys(inPrompt),
		m.questions.dialogKeys(e), e.keys(inDialog), e.keys(inReason), m.rowKeys(inReason), m.editKeys(inReason),
		m.questions.changeKeys(), e.keys(inText), m.rowKeys(inText), m.editKeys(inText), m.questions.hunkKeys(), e.keys(inHunks),
		m.questions.inquiryKeys(e), e.keys(inInquiry), m.editKeys(inInquiry), m.help.keys(e), m.editKeys(inHelp),
		m.paneKeys(inView), m.sheets.keys(e), m.net.keys(), m.lists.keys(), e.keys(inPicker), m.editKeys(inPicker),
		m.first.keys(e, redraw, newline), m.editKeys(inFirst), m.first.keyKeys(e), m.editKeys(inKey))
}

// mainKeys returns the prompt's keys.
func (m *model) mainKeys(e commonKeys, redraw, newline binding) []binding {
	return []binding{
		{id: "send", action: send, Binding: ui.Key("send; while the agent works: send after its turn", "enter"), can: m.sender.can, run: m.sender.send},
		{id: "steer", action: steerNow, Binding: ui.Key("while the agent works: send before its next step", "ctrl+s"), can: m.sender.canSteer, run: m.sender.steer},
		newline,
		{id: "stop", action: stop, Binding: ui.Key("stop the agent; then clear the prompt; twice: go back to a message", "esc"), can: m.stopper.can, run: m.stopper.escape},
		{id: "interrupt", action: quit, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), run: e.interrupt},
		{id: "quit", action: quit, Binding: ui.Key("quit", "ctrl+d"), can: m.composer.empty, run: m.stopper.leaveKey},
		{id: "help", action: showHelp, Binding: ui.KeyNamed("F1", "all keys", "f1"), run: e.help},
		{id: "help-when-empty", action: showHelp, Binding: ui.Key("all keys", "?"), can: m.composer.empty, run: e.help},
		{id: "editor", action: editOutside, Binding: ui.Key("write in your editor", "ctrl+g"), can: m.composer.canEdit, run: m.composer.edit},
		{id: "copy", action: copyLast, Binding: ui.Key("copy the last answer; twice: choose", "ctrl+y"), can: m.copier.can, run: m.copier.key},
		{id: "history", action: editKey, Binding: ui.Key("search what you wrote before", "ctrl+r"), can: func() string {
			return ui.ReasonIf(len(m.composer.prompt.Recent()) == 0, "you have not sent anything here yet")
		}, run: m.composer.search},
		{id: "picture", action: editKey, Binding: ui.Key("attach the picture on the clipboard", "ctrl+v"), can: func() string {
			return ui.ReasonIf(m.composer.ports.Picture == nil, "the clipboard cannot be read here")
		}, run: m.composer.pastePicture},
		{id: "abort-call", action: cancelOneCall, Binding: ui.Key("abort one running call; the agent goes on", "ctrl+x"), can: m.jobs.canCancel, run: m.jobs.cancel},
		{id: "expand", action: expand, Binding: ui.Key("show results and thoughts in full, or less", "ctrl+o"), run: m.conversation.toggle},
		redraw,
		{id: "suspend", action: suspend, Binding: ui.Key("suspend adze", "ctrl+z"), can: m.window.canSuspend, run: m.window.suspend},
	}
}

// paneKeys returns the keys that open panes and lists from the conversation or another pane. The
// others are opened by commands.
func (m *model) paneKeys(s scope) []binding {
	return []binding{
		{id: "sessions", action: openPane, scope: s, part: panes, Binding: ui.KeyNamed("F2", "sessions: open one", "f2"), can: m.sessions.can, run: m.sessions.choose},
		{id: "changes", action: openPane, scope: s, part: panes, Binding: ui.KeyNamed("F3", "what differs now: the changed files", "f3"), can: m.net.canCompare, run: m.net.open},
	}
}

// rowKeys returns the keys that move between an editor's rows. In the prompt they continue into
// earlier messages.
func (m *model) rowKeys(s scope) []binding {
	up, down := m.composer.inLine((*prompt.Line).Up), m.composer.inLine((*prompt.Line).Down)
	if s != inPrompt {
		up, down = m.inEditor(edit.RowUp), m.inEditor(edit.RowDown)
	}
	return []binding{
		{id: "edit.row-up", action: editKey, scope: s, part: editing, Binding: ui.Key("row up; in the first row: a waiting message, then earlier messages", "up"), run: up},
		{id: "edit.row-down", action: editKey, scope: s, part: editing, Binding: ui.Key("row down; in the last row: back to your text", "down"), run: down},
	}
}

// editKeys returns the keys of every editor.
func (m *model) editKeys(s scope) []binding {
	var all []binding
	for _, k := range edit.Keys() {
		all = append(all, binding{id: "edit." + k.ID, action: editKey, scope: s, part: editing, Binding: k.Binding, run: m.inEditor(k.Do)})
	}
	return all
}

// inEditor returns a handler that changes the focused editor and shows the returned message.
func (m *model) inEditor(change func(e *edit.Editor, w int) string) func() tea.Cmd {
	return func() tea.Cmd {
		if text := change(m.editor()); text != "" {
			m.showMessage(text)
		}
		return nil
	}
}
