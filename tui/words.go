package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tool"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/plain"
)

// word is another assistant's name for a command. It maps to a command of adze or explains the
// alternative.
type word struct {
	names       string // synonyms, the most common first
	command     string // adze's command; "" if none
	explanation string // explanation; if empty, the command's help
	prompt      string // text to put into the prompt
}

// words returns the alias table. Users of another assistant try its commands first and need an
// answer.
func (c *commander) words() []word {
	config := cmp.Or(c.info.Config, "the configuration")
	return []word{
		{names: "exit q bye", command: "quit"},
		{names: "diff files-changed", command: "changes"},
		{names: "cost usage tokens stats status", command: "context"},
		{names: "permissions approvals allowed-tools", command: "mode"},
		{names: "history chats threads continue load", command: "sessions"},
		{names: "models provider switch", command: "model"},
		{names: "think thinking reasoning", command: "effort"},
		{names: "reset", command: "new"},
		{names: "summarize compress", command: "compact"},
		{names: "image add-image upload", command: "attach"},
		{names: "branch", command: "fork"},
		{names: "bashes tasks ps", command: "jobs"},
		{names: "stop cancel kill", command: "abort"},
		{names: "editor external-editor", command: "edit"},
		{names: "vi", command: "vim"},
		{names: "color colour", command: "theme"},
		{names: "tools commands shortcuts keys keybindings hotkeys", command: "help"},

		{names: "revert restore checkpoint", command: "undo"},
		{names: "init", explanation: "send this; the file is read from the next session on", prompt: "Look through this project and write an AGENTS.md: how it is built, run and tested, how the code is laid out, and its conventions. Keep it short."},
		{names: "review pr-review security-review", explanation: "send this, or write your own words", prompt: "Review the uncommitted changes: bugs first, with file and line; then what is missing."},
		{names: "memory instructions rules", explanation: cmp.Or(strings.Join(c.info.Instructions, ", "), "an AGENTS.md in the project or beside your configuration") + " is read at every start"},
		{names: "agents subagents", explanation: "@NAME gives a message to an agent, and the model starts agents by itself; your agents are files in .adze/agents. adze --agent NAME lets one lead. " + c.label(cancelOneCall) + " aborts one that runs"},
		{names: "queue", explanation: c.label(send) + " queues a message while the agent works, " + c.label(steerNow) + " sends it before the next step, " + c.labelOf("edit.row-up") + " takes it back"},
		{names: "export share save transcript", explanation: "in a shell: adze sessions export " + cmp.Or(c.info.Session, "ID") + " -o FILE writes the conversation; /copy copies answers"},
		{names: "rename title", explanation: "in a shell: adze sessions rename " + cmp.Or(c.info.Session, "ID") + " TITLE"},
		{names: "config settings preferences", explanation: config + " is the file; /theme, /model and /vim can write to it"},
		{names: "login logout auth api-key", explanation: "in a shell: adze models login PROVIDER, adze models logout PROVIDER"},
		{names: "doctor debug", explanation: "in a shell: adze doctor"},
		{names: "mcp mcp-servers", command: "servers"},
		{names: "skills", explanation: "skills are folders skills/NAME with a SKILL.md, in .adze, .agents or .claude; / lists them, and the model loads them by itself"},
		{names: "hooks", explanation: "in a shell: adze help hooks; /trust shows the hooks of this project"},
		{names: "refused denied", explanation: c.label(expand) + " shows at each call what rules and the sandbox refused"},
		{names: "plugins extensions", explanation: "none; your own tools are files in the folder tools beside " + config},
		{names: "add file drop read", explanation: "@ names a file in your message; the model reads other files by itself"},
		{names: "cd cwd add-dir workspace", explanation: "a session has one folder; adze --cwd DIR starts one elsewhere"},
		{names: "run bash shell sh", explanation: "! before a command runs it"},
		{names: "bug feedback release-notes update upgrade version", explanation: "adze " + c.info.Version + "; it does not update itself"},
	}
}

// resolve resolves a name or its beginning to a command or an alias.
func (c *commander) resolve(name string) (full string, w word, ok bool) {
	if slices.Contains(c.names(), name) {
		return name, w, true
	}
	var begun []string
	for _, w := range c.words() {
		for n := range strings.FieldsSeq(w.names) {
			if n == name {
				return cmp.Or(w.command, n), w, true
			}
			if strings.HasPrefix(n, name) {
				begun = append(begun, n)
			}
		}
	}
	if full, ok = named(name, c.names()); ok {
		return full, w, true
	}
	if len(begun) == 1 && !slices.ContainsFunc(c.names(), func(n string) bool { return strings.HasPrefix(n, name) }) {
		return c.resolve(begun[0])
	}
	return "", w, false
}

// tell shows an alias's explanation.
func (c *commander) tell(w word) tea.Cmd {
	c.prompt.Set(w.prompt)
	c.showMessage(w.explanation)
	return nil
}

// unknown returns the error for an unknown name.
func (c *commander) unknown(name string) string {
	known := c.names()
	for _, n := range c.externalCommands() {
		known = append(known, n.Name)
	}
	for _, w := range c.words() {
		known = append(known, strings.Fields(w.names)...)
	}
	if near := tool.Nearest(name, known, 1); len(near) == 1 {
		return "there is no command /" + name + "; did you mean /" + near[0] + "?"
	}
	return "there is no command /" + name + "; / lists all"
}

// wordChoices returns completions from the alias table.
func (c *commander) wordChoices(start string) (out []list.Choice) {
	if start == "" {
		return nil
	}
	for _, w := range c.words() {
		for n := range strings.FieldsSeq(w.names) {
			if strings.HasPrefix(n, start) && !c.carries(n) {
				out = append(out, list.Choice{ID: n, Label: "/" + n, Note: c.noteOf(w)})
				break // one synonym is enough
			}
		}
	}
	return out
}

func (c *commander) noteOf(w word) string {
	if w.command == "" {
		return w.explanation
	}
	for _, own := range c.table {
		if own.name == w.command {
			return "the same as /" + own.name + ": " + own.help
		}
	}
	return w.explanation
}

// externalCommands returns the commands of the user, the project and MCP servers; servers may add
// more during a session.
func (c *commander) externalCommands() []api.Named {
	if c.info.Commands == nil {
		return nil
	}
	return c.info.Commands()
}

// carries reports whether name is a carried command; the interface's own names take precedence.
func (c *commander) carries(name string) bool {
	return !slices.Contains(c.names(), name) && slices.ContainsFunc(c.externalCommands(), func(n api.Named) bool { return n.Name == name })
}

// begins reports whether text is a message that begins with a carried command. It is sent
// unchanged.
func (c *commander) begins(text string) bool {
	name, _, ok := plain.Slash(text)
	return ok && c.carries(name)
}

// begun returns the only carried command that begins with name.
func (c *commander) begun(name string) (string, bool) {
	var all []string
	for _, n := range c.externalCommands() {
		all = append(all, n.Name)
	}
	return named(name, all)
}

// namedChoices returns completions for carried commands.
func (c *commander) namedChoices(start string) (out []list.Choice) {
	for _, n := range c.externalCommands() {
		if strings.HasPrefix(n.Name, start) && c.carries(n.Name) {
			out = append(out, list.Choice{ID: n.Name, Label: strings.TrimSpace("/" + n.Name + " " + n.Args), Note: n.Note()})
		}
	}
	return out
}

// namedLines returns help lines for carried commands.
func (c *commander) namedLines() (out []pane.Line) {
	for _, n := range c.externalCommands() {
		out = append(out, pane.Line{Names: strings.TrimSpace("/" + n.Name + " " + n.Args), Text: n.Note()})
	}
	return out
}
