package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/firstrun"
	"adze/tui/list"
	"adze/tui/ui"
)

// first is the screen of who has no model yet.
type first struct {
	host
	screen *firstrun.Screen // if nil, a model is ready
	picker *list.List
	clip   func(safeterm.Text)
	// quit ends the interface at once, to go on with something else.
	quit func(api.Next) tea.Cmd
}

// shown reports that no model is there.
func (f *first) shown() bool { return f.screen != nil }

// step does the chosen thing: it leads somewhere, or its command is copied.
func (f *first) step() tea.Cmd {
	s := f.screen.Marked()
	if s.Key && s.Provider != "" {
		f.screen.Ask(firstrun.KeyOf{Provider: s.Provider})
		return nil
	}
	if s.Key {
		return f.chooseKey()
	}
	if s.Address && f.screen.KeepAddress != nil {
		f.screen.AskAddress()
		return nil
	}
	if s.Next != (api.Next{}) {
		return f.quit(s.Next)
	}
	f.clip(safeterm.Name(s.Do))
	f.say("copied; run it in a shell, then press " + f.label(lookAgain) + " here")
	return nil
}

// chooseKey asks whose key it is, then for the key.
func (f *first) chooseKey() tea.Cmd {
	var items []list.Choice
	for _, k := range f.screen.Keys {
		items = append(items, list.Choice{ID: k.Provider, Label: k.Provider, Note: k.Page})
	}
	f.picker.Begin("which provider? · where to get a key", items, func(c list.Choice) tea.Cmd {
		f.screen.Ask(firstrun.KeyOf{Provider: c.ID, Page: c.Note})
		return nil
	})
	return nil
}

func canKey(f *firstrun.Screen) string {
	return ui.Why(len(f.Keys) == 0 || f.Keep == nil, "keys cannot be entered here")
}

func (f *first) demo() tea.Cmd {
	f.screen.ToDemo()
	return f.step()
}

func (f *first) leave() tea.Cmd { return f.quit(api.Next{}) }

// can is the reason of the screen why a key does nothing.
func (f *first) can(why func(*firstrun.Screen) string) func() string {
	return func() string {
		if f.screen == nil {
			return "a model is ready"
		}
		return why(f.screen)
	}
}

func (f *first) move(how func(f *firstrun.Screen, by int), by int) func() tea.Cmd {
	return func() tea.Cmd { how(f.screen, by); return nil }
}

// hints are what to press on the first screen.
func (f *first) hints() []string {
	if f.screen.Asks() {
		return []string{f.labelOf("key.give") + ": keep", f.labelOf("key.back") + ": back"}
	}
	hints := []string{f.labelOf("first.do") + ": select", f.label(lookAgain) + ": look again"}
	if f.screen.CanDemo() == "" {
		hints = append(hints, f.labelOf("first.demo")+": demo")
	}
	return append(hints, f.labelOf("first.quit")+": quit", f.label(showHelp)+": keys")
}

// keys are those of the screen; models lists the models, and redraw draws the screen again.
func (f *first) keys(e commonKeys, models, redraw binding) []binding {
	models.Binding, models.action, models.scope = ui.KeyNamed("m", "models, and why others cannot be used", "m"), openPane, inFirst
	redraw.scope = inFirst
	return []binding{
		{id: "first.do", action: takeChoice, scope: inFirst, Binding: ui.Key("select: go on, or copy the command", "enter"), can: f.can((*firstrun.Screen).CanStep), do: f.step},
		{id: "first.up", action: lineUp, scope: inFirst, Binding: ui.Key("the step above", "up", "k", "shift+tab"), do: f.move((*firstrun.Screen).Move, -1)},
		{id: "first.down", action: lineDown, scope: inFirst, Binding: ui.Key("the step below", "down", "j", "tab"), do: f.move((*firstrun.Screen).Move, 1)},
		{id: "first.look", action: lookAgain, scope: inFirst, Binding: ui.Key("look again after a change", "r"), can: f.can((*firstrun.Screen).CanLook), do: func() tea.Cmd { return f.screen.Search() }},
		{id: "first.demo", action: takeChoice, scope: inFirst, Binding: ui.Key("watch the demo", "d"), can: f.can((*firstrun.Screen).CanDemo), do: f.demo},
		models,
		{id: "first.key", action: enterKey, scope: inFirst, Binding: ui.Key("enter a key", "e"), can: f.can(canKey), do: f.chooseKey},
		{id: "page-up", action: pageUp, scope: inFirst, Binding: ui.KeyNamed("PgUp", "see more", "pgup"), do: f.move((*firstrun.Screen).Scroll, -8)},
		{id: "page-down", action: pageDown, scope: inFirst, Binding: ui.KeyNamed("PgDn", "see more", "pgdown", "space"), do: f.move((*firstrun.Screen).Scroll, 8)},
		{id: "help", action: showHelp, scope: inFirst, Binding: ui.KeyNamed("F1", "all keys", "f1", "?"), do: e.help},
		redraw,
		{id: "first.quit", action: quit, scope: inFirst, Binding: ui.Key("quit", "q", "esc", "ctrl+c", "ctrl+d"), do: f.leave},
	}
}

// keyKeys are those of the line in which a key is written.
func (f *first) keyKeys(e commonKeys) []binding {
	return []binding{
		{id: "key.give", action: send, scope: inKey, Binding: ui.Key("check the key and keep it", "enter"), can: f.can((*firstrun.Screen).CanKeep), do: func() tea.Cmd { return f.screen.Give(f.say) }},
		{id: "key.back", action: closePane, scope: inKey, Binding: ui.Key("back, without the key", "esc"), do: func() tea.Cmd { f.screen.Drop(); return nil }},
		{id: "interrupt", action: quit, scope: inKey, Binding: ui.Key("quit", "ctrl+c"), do: f.leave},
		{id: "help", action: showHelp, scope: inKey, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: e.help},
	}
}
