package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/tui/edit"
	"adze/tui/permission"
	"adze/tui/prompt"
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
	lookAgain
	openCopy
	copyPart
)

// scope says which keys act: those of the topmost thing on the screen.
type scope uint8

const (
	inPrompt scope = iota
	inDialog
	inReason
	inHelp
	inView
	inPicker
	inFirst
	scopes
)

// writes reports whether the keys of letters write them.
func (s scope) writes() bool { return s == inHelp || s == inPrompt || s == inReason || s == inPicker }

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
	action action
	scope  scope
	part   part
	keys   []string // as tea.KeyPressMsg.String writes them
	label  string   // the key as people read it; empty: the first of keys
	help   string
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

func newKeymap() *keymap {
	k := &keymap{table: bindings()}
	for i := range k.index {
		k.index[i] = map[string][]*binding{}
	}
	for i := range k.table {
		b := &k.table[i]
		for _, key := range b.keys {
			k.index[b.scope][key] = append(k.index[b.scope][key], b)
		}
	}
	return k
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
		Why: k.label(denyWhy), Stop: k.label(stop), Down: k.label(pageDown), Up: k.label(pageUp)}
}

func (b *binding) name() string {
	if b.label != "" {
		return b.label
	}
	return b.keys[0]
}

// find returns what a key does now, or why it does nothing; both are empty for a key without meaning.
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
		dialogKeys(), rowKeys(inReason), editKeys(inReason), helpKeys(), editKeys(inHelp), viewKeys(), pickerKeys(), editKeys(inPicker), firstKeys()} {
		all = append(all, part...)
	}
	return all
}

func mainKeys() []binding {
	return []binding{
		{action: send, keys: []string{"enter"}, help: "send; while the agent works: send next", can: canSend, do: (*model).send},
		{action: steerNow, keys: []string{"ctrl+s"}, help: "while the agent works: say it before its next step", can: canSteer, do: (*model).steer},
		{action: newline, keys: []string{"ctrl+j", "alt+enter", "shift+enter"}, help: "new line; so does enter behind a backslash", do: inEditor(func(e *edit.Editor, _ int) string { e.Insert("\n"); return "" })},
		{action: stop, keys: []string{"esc"}, help: "stop the agent; then clear the prompt; then take your last message back", can: canStop, do: (*model).escape},
		{action: quit, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: quit, keys: []string{"ctrl+d"}, help: "quit", can: canLeave, do: (*model).quitKey},
		{action: showHelp, keys: []string{"f1"}, label: "F1", help: "all keys", do: (*model).openHelp},
		{action: showHelp, keys: []string{"?"}, help: "all keys", can: needsEmpty, do: (*model).openHelp},
		{action: editOutside, keys: []string{"ctrl+g"}, help: "write in your own editor", can: canEdit, do: (*model).edit},
		{action: copyLast, keys: []string{"ctrl+y"}, help: "copy the last answer; twice: choose what", can: canCopy, do: (*model).copyKey},
		{action: editKey, keys: []string{"ctrl+r"}, help: "search what you wrote before", can: canSearch, do: (*model).search},
		{action: editKey, keys: []string{"ctrl+v"}, help: "attach the picture that is on the clipboard", can: canPicture, do: (*model).pastePicture},
		{action: cancelOneCall, keys: []string{"ctrl+x"}, help: "abort one running call; the agent goes on", can: canCancelCall, do: (*model).cancelCall},
		{action: expand, keys: []string{"ctrl+o"}, help: "show all of tool results and thoughts, or less", do: (*model).toggleExpanded},
		{action: releaseMouse, keys: []string{"f2"}, label: "F2", help: "give the mouse to the terminal, to select text", can: canMouse, do: (*model).toggleMouse},
		{action: drawAgain, keys: []string{"ctrl+l"}, help: "draw the screen again", do: (*model).drawAgain},
		{action: suspend, keys: []string{"ctrl+z"}, help: "go to the background", can: canSuspend, do: (*model).suspend},
	}
}

func paneKeys() []binding {
	return append(sheetKeys(inPrompt), []binding{
		{action: toggleTodos, part: panes, keys: []string{"ctrl+t"}, help: "show or hide the todos", can: canTodos, do: (*model).toggleTodos},
		{action: openPane, part: panes, keys: []string{"shift+tab"}, help: "the permission mode", can: canModes, do: (*model).chooseMode},
	}...)
}

func scrollKeys() []binding {
	return []binding{
		{action: pageUp, keys: []string{"pgup"}, label: "PgUp", help: "a page up", can: canScroll, do: scroll(pages(-1))},
		{action: pageDown, keys: []string{"pgdown"}, label: "PgDn", help: "a page down", can: canScroll, do: scroll(pages(1))},
		{action: lineUp, keys: []string{"shift+up", "ctrl+up"}, help: "a row up", can: canScroll, do: scroll(rows(-1))},
		{action: lineDown, keys: []string{"shift+down", "ctrl+down"}, help: "a row down", can: canScroll, do: scroll(rows(1))},
		{action: toTop, keys: []string{"home"}, label: "Home", help: "to the beginning", can: either(needsEmpty, canScroll), do: (*model).toTop},
		{action: toTop, keys: []string{"ctrl+home"}, help: "to the beginning", can: canScroll, do: (*model).toTop},
		{action: toBottom, keys: []string{"end"}, label: "End", help: "to the end, and follow it", can: either(needsEmpty, canScroll), do: (*model).toBottom},
		{action: toBottom, keys: []string{"ctrl+end"}, help: "to the end, and follow it", can: canScroll, do: (*model).toBottom},
	}
}

// rowKeys move between the rows of an editor that has several. In the prompt they go on to what was written before.
func rowKeys(s scope) []binding {
	up, down := inLine((*prompt.Line).Up), inLine((*prompt.Line).Down)
	if s != inPrompt {
		up, down = inEditor(edit.RowUp), inEditor(edit.RowDown)
	}
	return []binding{
		{action: editKey, scope: s, part: editing, keys: []string{"up"}, help: "row up; at the first: take back what waits, then what you sent before that begins alike", do: up},
		{action: editKey, scope: s, part: editing, keys: []string{"down"}, help: "row down; at the last: back to what you wrote", do: down},
	}
}

// editKeys are those of every text that is written.
func editKeys(s scope) []binding {
	var all []binding
	for _, k := range edit.Keys() {
		all = append(all, binding{action: editKey, scope: s, part: editing, keys: k.Keys, label: k.Label, help: k.Help, do: inEditor(k.Do)})
	}
	return all
}

func dialogKeys() []binding {
	return []binding{
		{action: allowOnce, scope: inDialog, keys: []string{"y"}, help: "allow this once", do: answer(permission.Once)},
		{action: allowSession, scope: inDialog, keys: []string{"s"}, help: "allow by the rule shown, in this session", can: canGrant, do: answer(permission.ForSession)},
		{action: allowAlways, scope: inDialog, keys: []string{"a"}, help: "allow by the rule shown, and save it for all sessions", can: canSave, do: answer(permission.Always)},
		{action: deny, scope: inDialog, keys: []string{"n"}, help: "deny", do: answer(permission.Deny)},
		{action: denyWhy, scope: inDialog, keys: []string{"e"}, help: "deny and tell the model why", do: (*model).giveReason},
		{action: stop, scope: inDialog, keys: []string{"esc"}, help: "deny and stop the agent", do: (*model).stop},
		{action: quit, scope: inDialog, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
		{action: send, scope: inDialog, keys: []string{"enter"}, help: "does not answer: too easily pressed", can: noEnter},
		{action: pageUp, scope: inDialog, keys: []string{"pgup"}, label: "PgUp", help: "see more of the question", do: scrollDialog(-5)},
		{action: pageDown, scope: inDialog, keys: []string{"pgdown", "space"}, label: "PgDn", help: "see more of the question", do: scrollDialog(5)},
		{action: lineUp, scope: inDialog, keys: []string{"up"}, help: "a row up", do: scrollDialog(-1)},
		{action: lineDown, scope: inDialog, keys: []string{"down"}, help: "a row down", do: scrollDialog(1)},

		{action: sendReason, scope: inReason, keys: []string{"enter"}, help: "deny with this reason", do: (*model).denyBecause},
		{action: leaveReason, scope: inReason, keys: []string{"esc"}, help: "back to the question", do: (*model).dropReason},
		{action: quit, scope: inReason, keys: []string{"ctrl+c"}, help: "stop the agent; twice: quit", do: (*model).interrupt},
	}
}
