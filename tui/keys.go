package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/firstrun"
	"adze/tui/permission"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// action is something a key does.
type action uint8

// The actions. Hints and help find their keys by these names.
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
	releaseMouse
	pageUp
	pageDown
	lineUp
	lineDown
	toTop
	toBottom
	editKey
	allowOnce
	allowSession
	deny
	denyWhy
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
	allowAlways
	otherRule
	lookAgain
	openCopy
	endMarked
	copyPart
	enterKey
	sendReply
	changeCall
	tryAside
	splitHunks
	flipHunk
	nextHunk
	dialogSend
	dialogLine
)

// scope says which keys act: those of the topmost thing on the screen.
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

// writes reports whether the keys of letters write them.
func (s scope) writes() bool {
	return s == inHelp || s == inPrompt || s == inReason || s == inText || s == inPicker || s == inKey || s == inInquiry
}

// answers reports whether its keys answer a question.
func (s scope) answers() bool {
	return s == inDialog || s == inReason || s == inText || s == inHunks || s == inInquiry
}

// part is where help lists a key.
type part uint8

const (
	general part = iota
	panes
	completing
	editing
)

// binding is one row of the key table.
type binding struct {
	// id names the row in the configuration, if empty, its keys are fixed. Rows of several scopes that
	// mean the same have the same one.
	id     string
	action action
	scope  scope
	part   part
	key.Binding
	// can says why the key does nothing now; nil, or an empty string: it does.
	can func(m *model) string
	do  func(m *model) tea.Cmd
}

func (b *binding) disabled(m *model) string {
	if b.can == nil {
		return ""
	}
	return b.can(m)
}

// keymap finds bindings by key. When several have the same key, the first that can act does.
type keymap struct {
	table []binding
	index [scopes]map[string][]*binding
}

func newKeymap(bound map[string][]string) (k *keymap, warnings []string) {
	k = &keymap{table: bindings()}
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

// label is how a hint names an action's key.
func (k *keymap) label(a action) string {
	for i := range k.table {
		if k.table[i].action == a {
			return k.table[i].name()
		}
	}
	return ""
}

// labelOf is how a hint names the key of a row, by its id.
func (k *keymap) labelOf(id string) string {
	for i := range k.table {
		if k.table[i].id == id {
			return k.table[i].name()
		}
	}
	return ""
}

// hint is the label of a key that does this now.
func (k *keymap) hint(m *model, a action) string {
	for i := range k.table {
		if b := &k.table[i]; b.action == a && b.disabled(m) == "" {
			return b.name()
		}
	}
	return k.label(a)
}

// ofDialog names the keys that answer a question.
func (k *keymap) ofDialog() permission.Labels {
	return permission.Labels{Once: k.label(allowOnce), Session: k.label(allowSession), Always: k.label(allowAlways), No: k.label(deny),
		Why: k.label(denyWhy), Stop: k.label(stop), Down: k.label(pageDown), Up: k.label(pageUp), Other: k.label(otherRule),
		Try: k.label(tryAside), Change: k.label(changeCall), Hunks: k.label(splitHunks), Send: k.label(dialogSend), Back: k.label(leaveReason),
		Line: k.label(dialogLine), Flip: k.label(flipHunk), Next: k.label(nextHunk)}
}

// ofFirst names the keys of the first screen.
func (k *keymap) ofFirst() firstrun.Labels {
	return firstrun.Labels{Give: k.labelOf("key.give"), Back: k.labelOf("key.back"), Up: k.label(pageUp), Down: k.label(pageDown)}
}

func (b *binding) name() string { return ui.KeyName(b.Binding) }

// find returns what a key does now, or why it does nothing; both are empty for a key without
// meaning.
func (k *keymap) find(m *model, s scope, key string) (b *binding, reason string) {
	for _, b := range k.index[s][key] {
		why := b.disabled(m)
		if why == "" {
			return b, ""
		}
		if reason == "" {
			reason = why
		}
	}
	return nil, reason
}

// bindings is the key table: what help shows and what Update obeys. The first rows matter most.
func bindings() []binding {
	var all []binding
	for _, part := range [][]binding{menuKeys(), mainKeys(), paneKeys(), scrollKeys(), rowKeys(inPrompt), editKeys(inPrompt),
		dialogKeys(), rowKeys(inReason), editKeys(inReason), changeKeys(), rowKeys(inText), editKeys(inText), hunkKeys(), inquiryKeys(), editKeys(inInquiry), helpKeys(), editKeys(inHelp), viewKeys(), pickerKeys(), editKeys(inPicker), firstKeys(), keyKeys(), editKeys(inKey)} {
		all = append(all, part...)
	}
	return all
}

func mainKeys() []binding {
	return []binding{
		{id: "send", action: send, Binding: ui.Key("send; while the agent works: send next", "enter"), can: canSend, do: (*model).send},
		{id: "steer", action: steerNow, Binding: ui.Key("while the agent works: say it before its next step", "ctrl+s"), can: canSteer, do: (*model).steer},
		{id: "newline", action: newline, Binding: ui.Key("new line; so does a backslash before sending", "ctrl+j", "alt+enter", "shift+enter"), do: inEditor(func(e *edit.Editor, _ int) string { e.Insert("\n"); return "" })},
		{id: "stop", action: stop, Binding: ui.Key("stop the agent; then clear the prompt; then take your last message back", "esc"), can: canStop, do: (*model).escape},
		{id: "interrupt", action: quit, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "quit", action: quit, Binding: ui.Key("quit", "ctrl+d"), can: canLeave, do: (*model).quitKey},
		{id: "help", action: showHelp, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "help-when-empty", action: showHelp, Binding: ui.Key("all keys", "?"), can: needsEmpty, do: (*model).openHelp},
		{id: "editor", action: editOutside, Binding: ui.Key("write in your own editor", "ctrl+g"), can: canEdit, do: (*model).edit},
		{id: "copy", action: copyLast, Binding: ui.Key("copy the last answer; twice: choose what", "ctrl+y"), can: canCopy, do: (*model).copyKey},
		{id: "history", action: editKey, Binding: ui.Key("search what you wrote before", "ctrl+r"), can: canSearch, do: (*model).search},
		{id: "picture", action: editKey, Binding: ui.Key("attach the picture that is on the clipboard", "ctrl+v"), can: canPicture, do: (*model).pastePicture},
		{id: "abort-call", action: cancelOneCall, Binding: ui.Key("abort one running call; the agent goes on", "ctrl+x"), can: canCancelCall, do: (*model).cancelCall},
		{id: "expand", action: expand, Binding: ui.Key("show all of tool results and thoughts, or less", "ctrl+o"), do: (*model).toggleExpanded},
		{id: "mouse", action: releaseMouse, Binding: ui.KeyNamed("F2", "give the mouse to the terminal, to select text", "f2"), can: canMouse, do: (*model).toggleMouse},
		{id: "redraw", action: drawAgain, Binding: ui.Key("draw the screen again", "ctrl+l"), do: (*model).drawAgain},
		{id: "suspend", action: suspend, Binding: ui.Key("go to the background", "ctrl+z"), can: canSuspend, do: (*model).suspend},
	}
}

func paneKeys() []binding {
	return append(sheetKeys(inPrompt), []binding{
		{id: "todos", action: toggleTodos, part: panes, Binding: ui.Key("show or hide the todos", "ctrl+t"), can: canTodos, do: (*model).toggleTodos},
		{id: "mode", action: openPane, part: panes, Binding: ui.Key("the permission mode", "shift+tab"), can: canModes, do: (*model).chooseMode},
	}...)
}

func scrollKeys() []binding {
	return []binding{
		{id: "page-up", action: pageUp, Binding: ui.KeyNamed("PgUp", "a page up", "pgup"), can: canScroll, do: scroll(pages(-1))},
		{id: "page-down", action: pageDown, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown"), can: canScroll, do: scroll(pages(1))},
		{id: "row-up", action: lineUp, Binding: ui.Key("a row up", "shift+up", "ctrl+up"), can: canScroll, do: scroll(rows(-1))},
		{id: "row-down", action: lineDown, Binding: ui.Key("a row down", "shift+down", "ctrl+down"), can: canScroll, do: scroll(rows(1))},
		{id: "top-when-empty", action: toTop, Binding: ui.KeyNamed("Home", "to the beginning", "home"), can: either(needsEmpty, canScroll), do: (*model).toTop},
		{id: "top", action: toTop, Binding: ui.Key("to the beginning", "ctrl+home"), can: canScroll, do: (*model).toTop},
		{id: "bottom-when-empty", action: toBottom, Binding: ui.KeyNamed("End", "to the end, and follow it", "end"), can: either(needsEmpty, canScroll), do: (*model).toBottom},
		{id: "bottom", action: toBottom, Binding: ui.Key("to the end, and follow it", "ctrl+end"), can: canScroll, do: (*model).toBottom},
	}
}

// rowKeys move between the rows of an editor that has several. In the prompt they go on to what was
// written before.
func rowKeys(s scope) []binding {
	up, down := inLine((*prompt.Line).Up), inLine((*prompt.Line).Down)
	if s != inPrompt {
		up, down = inEditor(edit.RowUp), inEditor(edit.RowDown)
	}
	return []binding{
		{id: "edit.row-up", action: editKey, scope: s, part: editing, Binding: ui.Key("row up; at the first: take back what waits, then what you sent before that begins alike", "up"), do: up},
		{id: "edit.row-down", action: editKey, scope: s, part: editing, Binding: ui.Key("row down; at the last: back to what you wrote", "down"), do: down},
	}
}

// editKeys are those of every text that is written.
func editKeys(s scope) []binding {
	var all []binding
	for _, k := range edit.Keys() {
		all = append(all, binding{id: "edit." + k.ID, action: editKey, scope: s, part: editing, Binding: k.Binding, do: inEditor(k.Do)})
	}
	return all
}
