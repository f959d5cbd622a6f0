package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/ui"
)

// settings changes the model, the effort, the permission mode and the shown sandbox.
type settings struct {
	host
	ports  *api.Ports
	picker *list.List
	status *pane.Status
	info   *Info
	// ask asks whether to save a setting for later sessions.
	ask func(name, value string, next func(keep bool) tea.Cmd) tea.Cmd
}

func (s *settings) commands() []command {
	return []command{
		{name: "model", args: "[provider/name]", help: "go on with another model", can: func() string { return ui.ReasonIf(s.ports.Models == nil, "this session cannot change the model") }, run: s.modelCommand},
		{name: "effort", args: "[level]", help: "how hard the model thinks", can: func() string {
			return ui.ReasonIf(s.ports.SetEffort == nil, "this session cannot change how hard the model thinks")
		}, run: s.effortCommand},
		{name: "mode", args: "[name]", help: "what is allowed without asking", can: s.canModes, run: s.modeCommand},
	}
}

func (s *settings) canModes() string {
	return ui.ReasonIf(s.ports.SetMode == nil || len(s.ports.Modes) == 0, "this session cannot change the mode")
}

func (s *settings) chooseMode() tea.Cmd {
	return s.choose("permission modes · now "+s.info.Mode, s.ports.Modes, s.info.Mode, s.toMode)
}

// choose lists modes or efforts and marks the current one.
func (s *settings) choose(title string, all []api.Mode, now string, take func(name string) tea.Cmd) tea.Cmd {
	var items []list.Choice
	for _, m := range all {
		items = append(items, list.Choice{ID: m.Name, Label: m.Name, Note: m.Means})
	}
	s.picker.Begin(title, items, func(c list.Choice) tea.Cmd { return take(c.ID) })
	s.picker.Move(slices.IndexFunc(all, func(m api.Mode) bool { return m.Name == now }))
	return nil
}

// nextMode switches to the next available mode, in a cycle.
func (s *settings) nextMode() tea.Cmd {
	modes := s.ports.Modes
	at := slices.IndexFunc(modes, func(m api.Mode) bool { return m.Name == s.info.Mode })
	var err error
	for i := range len(modes) {
		next := modes[(at+1+i)%len(modes)]
		if err = s.ports.SetMode(next.Name); err == nil {
			s.info.Mode = next.Name
			s.inMode(next.Name)
			s.showMessage(s.info.Mode + ": " + next.Means)
			return nil
		}
	}
	s.showMessage("error: " + err.Error())
	return nil
}

// toMode changes the mode for later calls.
func (s *settings) toMode(name string) tea.Cmd {
	if err := s.ports.SetMode(name); err != nil {
		s.showMessage("error: " + err.Error())
		return nil
	}
	s.info.Mode = name
	s.toldMode()
	return nil
}

// inMode shows the current mode.
func (s *settings) inMode(name string) {
	if s.ports.Mode != nil {
		name = s.ports.Mode()
	}
	s.info.Mode = name
	s.status.InMode(name)
	s.lookAtSandbox()
}

// toldMode shows the current mode and a message.
func (s *settings) toldMode() {
	s.inMode(s.info.Mode)
	s.showMessage("permission mode: " + s.info.Mode)
}

// lookAtSandbox updates the shown sandbox.
func (s *settings) lookAtSandbox() {
	if s.ports.Sandbox != nil {
		s.info.Sandbox = s.ports.Sandbox()
		s.status.InSandbox(s.info.Sandbox)
	}
}

// toEffort changes the effort, beginning with the next request.
func (s *settings) toEffort(name string) tea.Cmd {
	s.info.Effort = s.ports.SetEffort(name)
	s.status.AtEffort(s.info.Effort)
	s.showMessage("effort: " + name)
	return nil
}

// chooseModel lists models. The user can also type a name that is not listed.
func (s *settings) chooseModel() tea.Cmd {
	now := s.info.Model
	name := "models · $ in/out per million tokens · or type provider/name"
	s.picker.Begin(name, nil, func(c list.Choice) tea.Cmd { return s.toModel(c.ID) })
	s.picker.Free = freeModel(s.labelOf("list.choose"))
	return s.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		rows, err := s.ports.Models(ctx)
		return modelChoices(rows, now), err
	})
}

func (s *settings) toModel(name string) tea.Cmd {
	if name == s.info.Model {
		s.showMessage("this model is already in use")
		return nil
	}
	check := s.ports.CheckModel
	if check == nil {
		return s.withModel(name, nil)
	}
	return async.Ask(func() error { return check(name) }, func(err error) tea.Cmd { return s.withModel(name, err) })
}

// withModel switches to a checked model after asking whether to save it.
func (s *settings) withModel(name string, err error) tea.Cmd {
	if err != nil {
		s.showMessage("error: " + err.Error())
		return nil
	}
	return s.ask("model", name, func(keep bool) tea.Cmd {
		return s.leaveFor(api.Next{Session: s.info.Session, Model: name, Keep: keep})
	})
}

func (s *settings) modelCommand(arg string) tea.Cmd {
	if arg == "" {
		return s.chooseModel()
	}
	return s.toModel(arg)
}

func (s *settings) modeCommand(arg string) tea.Cmd {
	if arg == "" {
		return s.chooseMode()
	}
	name, _ := named(arg, namesOf(s.ports.Modes))
	return s.toMode(cmp.Or(name, arg)) // the list omits edits, staged and yolo
}

// effortCommand changes the effort, or lists the choices.
func (s *settings) effortCommand(arg string) tea.Cmd {
	if arg == "" {
		return s.choose("how hard the model thinks", s.ports.Efforts, s.info.Effort, s.toEffort)
	}
	names := namesOf(s.ports.Efforts)
	name, ok := named(arg, names)
	if !ok {
		s.showMessage("there is no effort " + arg + "; there are " + strings.Join(names, ", "))
		return nil
	}
	return s.toEffort(name)
}

func namesOf(all []api.Mode) (names []string) {
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

// planned shows the new mode after the user has accepted a plan.
func (s *settings) planned(p session.Plan) {
	if p.State == session.PlanAccepted {
		s.inMode(p.Mode)
	}
}
