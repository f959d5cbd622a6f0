package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/ui"
)

func (m *model) closePicker() tea.Cmd { m.picker.Close(); return nil }

func pickedBy(pick func(*list.List) tea.Cmd) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return pick(m.picker) }
}

func ofPicker(can func(*list.List) string) func(*model) string {
	return func(m *model) string { return can(m.picker) }
}

func movePicker(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.picker.Move(by); return nil }
}

func pickerKeys() []binding {
	return []binding{
		{id: "list.choose", action: takeChoice, scope: inPicker, Binding: ui.Key("choose", "enter"), can: ofPicker((*list.List).CanPick), do: pickedBy((*list.List).Pick)},
		{id: "list.copy", action: openCopy, scope: inPicker, Binding: ui.Key("go on in a copy of the marked session", "ctrl+f"), can: ofPicker((*list.List).CanPickCopy), do: pickedBy((*list.List).PickCopy)},
		{id: "list.end", action: endMarked, scope: inPicker, Binding: ui.Key("background jobs: end the marked one, after a question", "ctrl+x"), can: ofPicker((*list.List).CanPickEnd), do: pickedBy((*list.List).PickEnd)},
		{id: "list.close", action: closePane, scope: inPicker, Binding: ui.Key("close without choosing", "esc"), do: (*model).closePicker},
		{id: "help", action: showHelp, scope: inPicker, Binding: ui.KeyNamed("F1", "all keys", "f1"), do: (*model).openHelp},
		{id: "interrupt", action: quit, scope: inPicker, Binding: ui.Key("stop the agent; twice: quit", "ctrl+c"), do: (*model).interrupt},
		{id: "list.up", action: lineUp, scope: inPicker, Binding: ui.Key("the one above", "up", "ctrl+p"), do: movePicker(-1)},
		{id: "list.down", action: lineDown, scope: inPicker, Binding: ui.Key("the one below", "down", "ctrl+n"), do: movePicker(1)},
		{id: "page-up", action: pageUp, scope: inPicker, Binding: ui.KeyNamed("PgUp", "ten up", "pgup"), do: movePicker(-10)},
		{id: "page-down", action: pageDown, scope: inPicker, Binding: ui.KeyNamed("PgDn", "ten down", "pgdown"), do: movePicker(10)},
	}
}

// follow has a list look into the row that is marked, once it is marked for a while.
func (m *model) follow() tea.Cmd {
	if due, begins := m.picker.Follow(); begins {
		return m.after(list.PeekAfter, due)
	}
	return nil
}

func canModes(m *model) string {
	if m.ports.SetMode == nil || len(m.ports.Modes) == 0 {
		return "the mode cannot be changed here"
	}
	return ""
}

func (m *model) chooseMode() tea.Cmd {
	var items []list.Choice
	at := 0
	for i, mode := range m.ports.Modes {
		items = append(items, list.Choice{ID: mode.Name, Label: mode.Name, Note: mode.Means})
		if mode.Name == m.info.Mode {
			at = i
		}
	}
	m.picker.Begin("permission modes · now "+m.info.Mode, items, func(c list.Choice) tea.Cmd { return m.toMode(c.ID) })
	m.picker.Move(at)
	return nil
}

// toMode changes the mode for calls that are judged from now on.
func (m *model) toMode(name string) tea.Cmd {
	if err := m.ports.SetMode(name); err != nil {
		m.say("error: " + err.Error())
		return nil
	}
	m.inMode(name)
	m.say("permission mode: " + name)
	return nil
}

// inMode shows the mode that is in force.
func (m *model) inMode(name string) {
	m.info.Mode = name
	m.status.InMode(name)
	m.lookAtSandbox()
}

// inMode says that another mode is in force.
type inMode string

// InMode shows a mode that the program has put in force.
func (u *UI) InMode(name string) { u.bridge.push(inMode(name)) }

// lookAtSandbox takes over what commands now run in.
func (m *model) lookAtSandbox() {
	if m.ports.Sandbox != nil {
		m.info.Sandbox = m.ports.Sandbox()
		m.status.InSandbox(m.info.Sandbox)
	}
}

func canEffort(m *model) string {
	if m.ports.SetEffort == nil {
		return "how hard the model thinks cannot be changed here"
	}
	return ""
}

func (m *model) chooseEffort() tea.Cmd {
	var items []list.Choice
	at := 0
	for i, e := range m.ports.Efforts {
		items = append(items, list.Choice{ID: e.Name, Label: e.Name, Note: e.Means})
		if e.Name == m.info.Effort {
			at = i
		}
	}
	m.picker.Begin("how hard the model thinks", items, func(c list.Choice) tea.Cmd { return m.toEffort(c.ID) })
	m.picker.Move(at)
	return nil
}

// toEffort asks the model to think so hard from its next request on.
func (m *model) toEffort(name string) tea.Cmd {
	m.info.Effort = m.ports.SetEffort(name)
	m.status.AtEffort(m.info.Effort)
	m.say("effort: " + name)
	return nil
}

func canCancelCall(m *model) string {
	switch {
	case m.ports.CancelCall == nil:
		return "single calls cannot be aborted here"
	case len(m.activity.Started()) == 0 && m.activity.Jobs() > 0:
		return "no call runs; " + m.keys.labelOf("jobs") + " lists the background jobs"
	case len(m.activity.Started()) == 0:
		return "no call runs"
	}
	return ""
}

// cancelCall aborts the one call that runs, or asks which one; the agent goes on.
func (m *model) cancelCall() tea.Cmd {
	running := m.activity.Started()
	if len(running) == 1 {
		return m.cancelOne(running[0].ID, running[0].Name)
	}
	var items []list.Choice
	for _, c := range running {
		label := c.Name
		if c.Parent != "" {
			label = "↳ " + label
		}
		items = append(items, list.Choice{ID: string(c.ID), Label: label, Note: c.Title})
	}
	m.picker.Begin("abort which call?", items, func(c list.Choice) tea.Cmd {
		return m.cancelOne(tool.CallID(c.ID), strings.TrimPrefix(c.Label, "↳ "))
	})
	return nil
}

func (m *model) cancelOne(id tool.CallID, name string) tea.Cmd {
	if m.ports.CancelCall(id) {
		m.say("aborting " + name + "; the agent goes on")
	} else {
		m.say(name + " has ended already")
	}
	return nil
}

func canSearch(m *model) string {
	if len(m.prompt.Recent()) == 0 {
		return "you have not sent anything here yet"
	}
	return ""
}

// search lets the user choose from what they wrote, newest first; what is in the prompt narrows
// it.
func (m *model) search() tea.Cmd {
	var items []list.Choice
	for _, text := range m.prompt.Recent() {
		items = append(items, list.Choice{ID: text, Label: strings.Join(strings.Fields(text), " ")})
	}
	m.picker.Begin("what you wrote before", items, func(c list.Choice) tea.Cmd {
		m.prompt.Set(c.ID)
		return m.complete()
	})
	if !strings.Contains(m.prompt.Text, "\n") {
		m.picker.NarrowTo(m.prompt.Text)
	}
	return nil
}

func canSessions(m *model) string {
	if m.ports.Sessions == nil {
		return "nothing is saved here, so there are no other sessions"
	}
	return ""
}

// chooseSession lists stored sessions; those of this folder come first. What is typed is also
// looked for in what was said.
func (m *model) chooseSession() tea.Cmd {
	const fresh = ""
	title := "sessions"
	if m.ports.Search != nil {
		title += " · what you type is also looked for in what was said"
	}
	m.picker.Begin(title, []list.Choice{{ID: fresh, Label: "new session", Note: "in this folder"}}, func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		switch {
		case id == fresh:
			return m.leaveFor(api.Next{New: true})
		case id == m.info.Session && at != (api.Place{}):
			showPlace(m, at)
			return nil
		case id == m.info.Session:
			m.say("this session is open already; " + m.keys.label(openCopy) + " in the list opens a copy of it")
			return nil
		}
		return m.leaveFor(api.Next{Session: id, At: at})
	})
	m.picker.Copied = func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		return m.leaveFor(api.Next{Session: id, At: at, Fork: true})
	}
	now, info := m.now(), m.info
	if ask := m.ports.Peek; ask != nil {
		m.picker.PeekWith("its last exchange", func(ctx context.Context, id string) ([]draw.Span, error) {
			id, _ = placeOf(id)
			p, err := ask(ctx, id)
			return peekLines(p), err
		})
	}
	if find := m.ports.Search; find != nil {
		m.picker.SearchWith(func(ctx context.Context, text string) ([]list.Choice, string, error) {
			found, note, err := find(ctx, text)
			return foundChoices(found, info, now), note, err
		})
	}
	return m.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		heads, err := m.ports.Sessions(ctx)
		return sessionChoices(heads, info, now), err
	})
}

// seek has a list search in what its rows stand for, once the user stops typing.
func (m *model) seek() tea.Cmd {
	if due, begins := m.picker.Seek(); begins {
		return m.after(list.SearchAfter, due)
	}
	return nil
}

func canModels(m *model) string {
	if m.ports.Models == nil {
		return "the model cannot be changed in this session"
	}
	return ""
}

// chooseModel lists models. One that is in no list is chosen by typing its name.
func (m *model) chooseModel() tea.Cmd {
	now := m.info.Model
	name := "models · $ in/out a million tokens · or type provider/name"
	m.picker.Begin(name, nil, func(c list.Choice) tea.Cmd { return m.toModel(c.ID) })
	m.picker.Free = freeModel(m.keys.labelOf("list.choose"))
	return m.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		rows, err := m.ports.Models(ctx)
		return modelChoices(rows, now), err
	})
}

func (m *model) toModel(name string) tea.Cmd {
	if name == m.info.Model {
		m.say("this is the model already")
		return nil
	}
	check := m.ports.CheckModel
	if check == nil {
		return m.withModel(modelChecked{name: name})
	}
	return func() tea.Msg { return modelChecked{name, check(name)} }
}

// modelChecked says whether a model that the user named can be used.
type modelChecked struct {
	name string
	err  error
}

// withModel goes on with a model that can be used, after asking whether to keep it.
func (m *model) withModel(c modelChecked) tea.Cmd {
	if c.err != nil {
		m.say("error: " + c.err.Error())
		return nil
	}
	return keep(m, "model", c.name, func(keep bool) tea.Cmd {
		return m.leaveFor(api.Next{Session: m.info.Session, Model: c.name, Keep: keep})
	})
}

// leaveFor ends the interface to go on with something else; while the agent works, the user
// confirms.
func (m *model) leaveFor(n api.Next) tea.Cmd {
	if !m.turn.running {
		m.next = n
		return tea.Quit
	}
	what := "quit"
	if n != (api.Next{}) {
		what = "go on with that"
	}
	m.picker.Begin("the agent works", []list.Choice{{ID: "stay", Label: "stay", Note: "the agent goes on"},
		{ID: "leave", Label: "stop the agent and " + what, Note: "what it did is saved"}},
		func(c list.Choice) tea.Cmd {
			if c.ID == "stay" {
				return nil
			}
			m.next = n
			return m.leave()
		})
	return nil
}
