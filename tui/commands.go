package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/api"
	"adze/tui/list"
)

// command is what a prompt that begins with a slash does.
type command struct {
	name string
	args string // as help shows them
	help string
	// can says why the command does nothing now; nil, or an empty string: it does.
	can func(m *model) string
	do  func(m *model, arg string) tea.Cmd
}

// commands is the table of commands: what completion shows and what send obeys.
func commands() []command {
	plain := func(do func(*model) tea.Cmd) func(*model, string) tea.Cmd {
		return func(m *model, _ string) tea.Cmd { return do(m) }
	}
	return []command{
		{name: "help", args: "[words]", help: "all keys and commands, or those with these words", do: (*model).helpCommand},
		{name: "sessions", help: "open another session, or a new one", can: canSessions, do: plain((*model).chooseSession)},
		{name: "new", help: "a new session in this folder", can: canSwitch, do: plain((*model).newSession)},
		{name: "model", args: "[provider/name]", help: "go on with another model", can: canModels, do: (*model).modelCommand},
		{name: "effort", args: "[level]", help: "how hard the model thinks", can: canEffort, do: (*model).effortCommand},
		{name: "mode", args: "[name]", help: "change what is allowed without asking", can: canModes, do: (*model).modeCommand},
		{name: "plan", help: "plan first: nothing is changed until you accept a plan; shows the one that waits", can: canPlan, do: plain(showPlan)},
		{name: "changes", help: "the files that were changed, with diffs", do: plain((*model).openChanges)},
		{name: "refused", help: "what rules and the sandbox refused", can: canRefusals, do: plain((*model).openRefusals)},
		{name: "context", help: "what fills the model's context, and what was used", do: plain((*model).openContext)},
		{name: "compact", args: "[what to keep]", help: "sum the conversation up, to make room", can: canCompact, do: (*model).compact},
		{name: "claims", help: "tell the model what its answer says that no call did", can: canClaims, do: plain((*model).tellClaims)},
		{name: "trust", help: "what this project would run, and what of it you allow", can: canTrust, do: plain(chooseCarried)},
		{name: "todos", help: "show or hide the todos", can: canTodos, do: plain((*model).toggleTodos)},
		{name: "theme", args: "[name]", help: "other colours", do: (*model).themeCommand},
		{name: "vim", help: "vim keys in the prompt, or the usual ones", do: plain((*model).toggleVim)},
		{name: "copy", args: "[answer|code]", help: "copy the last of them, or what you choose", can: canCopy, do: (*model).copyCommand},
		{name: "attach", args: "path", help: "attach a picture or PDF to your message", can: canAttach, do: (*model).attachCommand},
		{name: "edit", help: "write the prompt in your own editor", can: canEdit, do: plain((*model).edit)},
		{name: "resume", args: "id", help: "open the session of this id", can: canSwitch, do: (*model).resumeCommand},
		{name: "fork", help: "go on in a copy of this session", can: canFork, do: fork},
		{name: "rewind", help: "take your last message back to edit it, and what was done to files since", can: canRewind, do: plain((*model).rewind)},
		{name: "undo", help: "put files back as they were before the last turn that changed some", can: canUndo, do: plain(func(m *model) tea.Cmd { return propose(m, api.Undo{}) })},
		{name: "redo", help: "take the last undo back", can: canUndo, do: plain(func(m *model) tea.Cmd { return propose(m, api.Undo{Redo: true}) })},
		{name: "jobs", help: "what runs in the background, what it wrote, and its end", can: canJobs, do: plain(chooseJob)},
		{name: "servers", help: "MCP servers: their state, their tools, and start, stop, test or log in", can: canServers, do: plain(chooseServer)},
		{name: "abort", help: "abort one running call; the agent goes on", can: canCancelCall, do: plain((*model).cancelCall)},
		{name: "clear", help: "the same as new: the model forgets this conversation", can: canSwitch, do: plain((*model).newSession)},
		{name: "quit", help: "leave", do: plain(func(m *model) tea.Cmd { return m.leaveFor(api.Next{}) })},
	}
}

// commandChoices are the completions of the beginning of a name. What is named whole comes first:
// enter takes the first.
func commandChoices(m *model, start string) []list.Choice {
	var out []list.Choice
	for _, c := range commands() {
		if !strings.HasPrefix(c.name, start) {
			continue
		}
		note := c.help
		if c.can != nil {
			if why := c.can(m); why != "" {
				note += " (not now: " + why + ")"
			}
		}
		out = append(out, list.Choice{ID: c.name, Label: strings.TrimSpace("/" + c.name + " " + c.args), Note: note})
	}
	out = slices.Concat(out, namedChoices(m, start), wordChoices(m, start))
	slices.SortStableFunc(out, func(a, b list.Choice) int { return whole(b.ID, start) - whole(a.ID, start) })
	return out
}

// agentChoices are the agents that a prompt can be addressed to.
func agentChoices(agents []api.Mode) (out []list.Choice) {
	for _, a := range agents {
		out = append(out, list.Choice{ID: "@" + a.Name, Label: "@" + a.Name, Note: a.Means})
	}
	return out
}

// whole is 1 for a name that is written out, else 0.
func whole(name, written string) int {
	if name == written {
		return 1
	}
	return 0
}

// CommandNames are the names that the interface has for itself.
func CommandNames() []string { return commandNames() }

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// command runs a command; one that cannot be run stays in the prompt.
func (m *model) command(name, arg string) tea.Cmd {
	full, w, ok := meant(m, name)
	switch {
	case !ok:
		if carried, is := begun(m, name); is {
			m.prompt.Set(strings.TrimSpace("/" + carried + " " + arg))
			return m.send()
		}
		m.say(unknown(m, name))
		return nil
	case w.says != "":
		return tell(m, w)
	}
	for _, c := range commands() {
		if c.name != full {
			continue
		}
		if c.can != nil {
			if why := c.can(m); why != "" {
				m.say(why)
				return nil
			}
		}
		m.prompt.Clear()
		return c.do(m, arg)
	}
	return nil
}

func canSwitch(m *model) string {
	if !m.ports.Switch {
		return "this session cannot be exchanged for another; quit and start adze again"
	}
	return ""
}

func (m *model) newSession() tea.Cmd { return m.leaveFor(api.Next{New: true}) }

func (m *model) resumeCommand(arg string) tea.Cmd {
	switch {
	case arg == "" && m.ports.Sessions != nil:
		return m.chooseSession()
	case arg == "":
		m.say("write the id of a session behind it")
		return nil
	}
	return m.leaveFor(api.Next{Session: arg})
}

func (m *model) modelCommand(arg string) tea.Cmd {
	if arg == "" {
		return m.chooseModel()
	}
	return m.toModel(arg)
}

func (m *model) modeCommand(arg string) tea.Cmd {
	if arg == "" {
		return m.chooseMode()
	}
	var names []string
	for _, mode := range m.ports.Modes {
		names = append(names, mode.Name)
	}
	name, ok := named(arg, names)
	if !ok {
		m.say("there is no mode " + arg + "; the modes are " + strings.Join(names, ", "))
		return nil
	}
	return m.toMode(name)
}

// effortCommand asks the model to think harder, or less.
func (m *model) effortCommand(arg string) tea.Cmd {
	if arg == "" {
		return m.chooseEffort()
	}
	var names []string
	for _, e := range m.ports.Efforts {
		names = append(names, e.Name)
	}
	name, ok := named(arg, names)
	if !ok {
		m.say("there is no effort " + arg + "; there are " + strings.Join(names, ", "))
		return nil
	}
	return m.toEffort(name)
}

// named finds what a command's argument means among names: itself, or the only one that it begins.
func named(arg string, names []string) (string, bool) {
	var found []string
	for _, n := range names {
		if n == arg {
			return n, true
		}
		if strings.HasPrefix(n, arg) {
			found = append(found, n)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}
