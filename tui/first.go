package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/firstrun"
	"adze/tui/list"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// first is the setup screen for a user without a model.
type first struct {
	host
	screen *firstrun.Screen // nil if a model is ready
	picker *list.List
	prompt *prompt.Line   // for the session that follows
	models func() tea.Cmd // lists models
	clip   func(safeterm.Text)
	// quit ends the interface at once and continues with Next.
	quit func(api.Next) tea.Cmd
}

func (f *first) shown() bool { return f.screen != nil }

// enter queues the prompt's message. With an empty prompt it carries out the marked step or copies
// its command.
func (f *first) enter() tea.Cmd {
	if !f.prompt.Empty() {
		f.prompt.Enqueue(f.prompt.Take())
		return nil
	}
	switch s := f.screen.Marked(); {
	case s.Look:
		return f.screen.Redetect()
	case s.List:
		return f.models()
	case s.Key && s.Provider != "":
		f.screen.Ask(firstrun.KeyOf{Provider: s.Provider})
	case s.Key:
		f.chooseKey()
	case s.Address && f.screen.KeepAddress != nil:
		f.screen.AskAddress()
	case s.Next != (api.Next{}):
		return f.quit(s.Next)
	default:
		f.showMessage("copied; run it in a shell, then look again here")
		return func() tea.Msg { f.clip(safeterm.Name(s.Do)); return nil }
	}
	return nil
}

// chooseKey asks for the provider, then for its key.
func (f *first) chooseKey() {
	var items []list.Choice
	for _, k := range f.screen.Keys {
		items = append(items, list.Choice{ID: k.Provider, Label: k.Provider, Note: k.Page})
	}
	f.picker.Begin("which provider? · where to get a key", items, func(c list.Choice) tea.Cmd {
		f.screen.Ask(firstrun.KeyOf{Provider: c.ID, Page: c.Note})
		return nil
	})
}

// back takes back queued messages, then clears the prompt, then quits.
func (f *first) back() tea.Cmd {
	switch {
	case f.prompt.Queued() > 0:
		f.prompt.Unqueue()
	case !f.prompt.Empty():
		f.prompt.Clear()
	default:
		return f.leave()
	}
	return nil
}

func (f *first) leave() tea.Cmd { return f.quit(api.Next{}) }

func (f *first) move(how func(f *firstrun.Screen, by int), by int) func() tea.Cmd {
	return func() tea.Cmd { how(f.screen, by); return nil }
}

func (f *first) hints() []string {
	if f.screen.Asks() {
		return []string{f.labelOf("key.give") + ": keep", f.labelOf("key.back") + ": back"}
	}
	enter, back := "select", "quit"
	switch {
	case !f.prompt.Empty():
		enter, back = "send when a model is there", "clear"
	case f.prompt.Queued() > 0:
		back = "take back"
	}
	return []string{f.labelOf("first.do") + ": " + enter, f.labelOf("first.quit") + ": " + back, f.label(showHelp) + ": keys"}
}

// keys returns the screen's keys. Letters are excluded: they write the first message.
func (f *first) keys(e commonKeys, redraw, newline binding) []binding {
	redraw.scope, newline.scope = inFirst, inFirst
	return []binding{
		{id: "first.do", action: takeChoice, scope: inFirst, Binding: ui.Key("send when a model is there; without a message: go on with the row, or copy its command", "enter"), run: f.enter},
		{id: "first.up", action: lineUp, scope: inFirst, Binding: ui.Key("the step above", "up", "shift+tab"), run: f.move((*firstrun.Screen).Move, -1)},
		{id: "first.down", action: lineDown, scope: inFirst, Binding: ui.Key("the step below", "down", "tab"), run: f.move((*firstrun.Screen).Move, 1)},
		{id: "page-up", action: pageUp, scope: inFirst, Binding: ui.KeyNamed("PgUp", "see more", "pgup"), run: f.move((*firstrun.Screen).Scroll, -8)},
		{id: "page-down", action: pageDown, scope: inFirst, Binding: ui.KeyNamed("PgDn", "see more", "pgdown"), run: f.move((*firstrun.Screen).Scroll, 8)},
		{id: "help", action: showHelp, scope: inFirst, Binding: ui.KeyNamed("F1", "all keys", "f1"), run: e.help},
		redraw, newline,
		{id: "first.quit", action: quit, scope: inFirst, Binding: ui.Key("take back what you wrote, then quit", "esc", "ctrl+c"), run: f.back},
		{id: "quit", action: quit, scope: inFirst, Binding: ui.Key("quit", "ctrl+d"), can: func() string { return ui.ReasonIf(!f.prompt.Empty(), "the prompt is not empty") }, run: f.leave},
	}
}

// keyKeys returns the keys of the API key field.
func (f *first) keyKeys(e commonKeys) []binding {
	return []binding{
		{id: "key.give", action: send, scope: inKey, Binding: ui.Key("check the key and keep it", "enter"), can: func() string { return f.screen.CanKeep() }, run: func() tea.Cmd { return f.screen.Give(f.showMessage) }},
		{id: "key.back", action: closePane, scope: inKey, Binding: ui.Key("back, without the key", "esc"), run: func() tea.Cmd { f.screen.Drop(); return nil }},
		{id: "interrupt", action: quit, scope: inKey, Binding: ui.Key("quit", "ctrl+c"), run: f.leave},
		{id: "help", action: showHelp, scope: inKey, Binding: ui.KeyNamed("F1", "all keys", "f1"), run: e.help},
	}
}
