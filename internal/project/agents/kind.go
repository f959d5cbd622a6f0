package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/project/discovery"
	"adze/tool"
)

// Kind is a sort of agent: one that is built in, or one that a file describes. A file only narrows:
// which tools an agent has, the mode that it works in, how many model requests it makes.
type Kind struct {
	discovery.Item        // the file; without a Path it is built in. Notes say what of it is not followed
	Description    string // on one line
	Model          string // as the file says it; if empty, that of who starts it
	Effort         string // one of session.Efforts; if empty, that of who starts it
	Mode           string // the widest permission mode for it; if empty, the one in force
	Steps          int    // model requests it may make at most; if 0, as many as any
	Main, Task     bool   // whether it may be the main agent, and whether a task may be given to it

	tools   toolbox
	strange []string // tools that no assistant is known to have
}

// taskTool starts subagents.
const taskTool = "task"

// Explorer is the kind that changes nothing, so that several may run together.
const Explorer = "explore"

// builtIn are the kinds that are always there.
func builtIn() []Kind {
	item := func(name string) discovery.Item {
		return discovery.Item{Kind: discovery.Agent, Name: name, Origin: discovery.BuiltIn}
	}
	return []Kind{
		{Item: item(Explorer), Task: true, Description: "reads and fetches, changes nothing; several run together",
			tools: toolbox{only: []string{"read", "glob", "grep", "list", "git_status", "webfetch", "websearch", "ask"}, looks: true}},
		{Item: item("general"), Task: true, Description: "has all tools", tools: toolbox{all: true}},
	}
}

// toolbox says which tools a kind has, by their names.
type toolbox struct {
	all   bool     // that it is not denied; else only
	only  []string // of those that are there
	deny  []string
	looks bool // and none that may change something
}

// Has reports whether the kind has a tool.
func (k Kind) Has(d tool.Definition) bool {
	switch b := k.tools; {
	case d.Name == "tool_search", slices.Contains(b.deny, d.Name), b.looks && d.Permissions.SideEffects():
		return false
	default:
		return b.all || slices.Contains(b.only, d.Name)
	}
}

// Text is what the agent is told of itself: the body of its file as it is now. Of one that is built
// in it is empty.
func (k Kind) Text(ctx context.Context) (string, error) {
	if k.Path == "" {
		return "", nil
	}
	text, err := k.Read(ctx)
	return tool.ShownHidden(strings.TrimSpace(text.Body)), err
}

// Kinds are the agents of a run, in the order in which names are won.
type Kinds []Kind

// Find lists the agents: those built in, then those of files, the user's before the project's.
// What is shadowed or cannot be used is among them.
func Find(ctx context.Context, f *discovery.Finder) Kinds {
	out := Kinds(builtIn())
	for _, i := range f.Find(ctx, discovery.Agent) {
		out = append(out, fromFile(i))
	}
	discovery.Shadow(len(out), func(n int) *discovery.Item { return &out[n].Item })
	return out
}

// Named finds the agent of a name; with project: or person: in front, the first of that origin.
func (ks Kinds) Named(name string) (Kind, error) {
	if len(ks) == 0 {
		ks = builtIn()
	}
	origin, own, qualified := strings.Cut(name, ":")
	for _, k := range ks {
		if k.Problem == "" && (k.Name == name && k.By == "" || qualified && string(k.Origin) == origin && k.Name == own) {
			return k, nil
		}
	}
	for _, k := range ks {
		if k.Problem != "" && k.Name == name {
			return Kind{}, tool.Fail(tool.CodeInvalidArguments, "the agent %q cannot be used: %s: %s", name, k.Path, k.Problem)
		}
	}
	names := ks.Usable(func(Kind) bool { return true })
	near := ""
	if n := tool.Nearest(name, names, 1); len(n) > 0 {
		near = fmt.Sprintf("; did you mean %s?", n[0])
	}
	return Kind{}, tool.Fail(tool.CodeInvalidArguments, "there is no agent %q%s; use one of: %s", name, near, strings.Join(names, ", "))
}

// Written reports whether a file describes an agent that a task can be given to.
func (ks Kinds) Written() bool {
	return slices.ContainsFunc(ks, func(k Kind) bool { return k.Path != "" && k.Problem == "" && k.Task })
}

// Usable are the names of the agents that can be used so, in their order.
func (ks Kinds) Usable(so func(Kind) bool) (names []string) {
	for _, k := range ks {
		if k.Problem == "" && so(k) {
			names = append(names, k.Label())
		}
	}
	return names
}

// ForTask finds an agent that a task may be given to.
func (ks Kinds) ForTask(name string) (Kind, error) {
	k, err := ks.Named(name)
	if err == nil && !k.Task {
		return k, tool.Fail(tool.CodeInvalidArguments, "the agent %q only leads a conversation (--agent); give the task to another one", name)
	}
	return k, err
}

// maxName bounds a subagent's name, in bytes.
const maxName = 80

// nameOf names a subagent for people and logs: "explore: find the parser". The description is a
// model's.
func nameOf(kind, description string) string {
	words := strings.ReplaceAll(strings.Join(strings.Fields(description), " "), "›", ">") // it parts names where they are shown
	if words == "" {
		return kind
	}
	name := kind + ": " + words
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// kindIn is the kind that the name of a subagent begins with.
func kindIn(name string) string {
	kind, _, _ := strings.Cut(name, ": ")
	return kind
}
