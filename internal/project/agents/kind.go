package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/project/discovery"
	"adze/tool"
)

// A Kind is an agent, built in or described by a file. A file can only narrow its tools, permission
// mode and number of model requests.
type Kind struct {
	discovery.Item        // the file; no Path if built in. Notes lists unsupported settings
	Description    string // on one line
	Model          string // as in the file; "" for the caller's
	Effort         string // one of session.Efforts; "" for the caller's
	Mode           string // widest permission mode; "" for the current one
	Steps          int    // limit of model requests; 0 for the default
	Main, Task     bool   // may be the main agent; may take tasks

	tools   toolbox
	strange []string // tools that no known assistant has
}

const taskTool = "task"

// Explorer is the kind that changes nothing, so that several can run concurrently.
const Explorer = "explore"

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

// toolbox selects a kind's tools by name.
type toolbox struct {
	all   bool // all except deny; otherwise only those in only
	only  []string
	deny  []string
	looks bool // no tools with side effects
}

// HasTool reports whether the kind has a tool.
func (k Kind) HasTool(d tool.Definition) bool {
	switch b := k.tools; {
	case d.Name == "tool_search", slices.Contains(b.deny, d.Name), b.looks && d.Permissions.SideEffects():
		return false
	default:
		return b.all || slices.Contains(b.only, d.Name)
	}
}

// Text returns the agent's prompt, the current body of its file. It is "" for a built-in agent.
func (k Kind) Text(ctx context.Context) (string, error) {
	if k.Path == "" {
		return "", nil
	}
	text, err := k.Read(ctx)
	return tool.ShownHidden(strings.TrimSpace(text.Body)), err
}

// Kinds holds a run's agents. The first one with a name wins.
type Kinds []Kind

// Find lists all agents: built-in ones, then the user's files, then the project's. Shadowed and
// broken ones are included.
func Find(ctx context.Context, f *discovery.Finder) Kinds {
	out := Kinds(builtIn())
	for _, i := range f.Find(ctx, discovery.Agent) {
		out = append(out, fromFile(i))
	}
	discovery.Shadow(len(out), func(n int) *discovery.Item { return &out[n].Item })
	return out
}

// Named finds an agent by name; with project: or person: in front, the first of that origin.
func (ks Kinds) Named(name string) (Kind, error) {
	if len(ks) == 0 {
		ks = builtIn()
	}
	origin, own, qualified := strings.Cut(name, ":")
	for _, k := range ks {
		if k.Problem == "" && (k.Name == name && k.ShadowedBy == "" || qualified && string(k.Origin) == origin && k.Name == own) {
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

// Written reports whether a file describes an agent that takes tasks.
func (ks Kinds) Written() bool {
	return slices.ContainsFunc(ks, func(k Kind) bool { return k.Path != "" && k.Problem == "" && k.Task })
}

// Usable returns the names of usable agents that satisfy so, in order.
func (ks Kinds) Usable(so func(Kind) bool) (names []string) {
	for _, k := range ks {
		if k.Problem == "" && so(k) {
			names = append(names, k.Label())
		}
	}
	return names
}

// ForTask finds an agent that takes tasks.
func (ks Kinds) ForTask(name string) (Kind, error) {
	k, err := ks.Named(name)
	if err == nil && !k.Task {
		return k, tool.Fail(tool.CodeInvalidArguments, "the agent %q only leads a conversation (--agent); give the task to another one", name)
	}
	return k, err
}

// in bytes
const maxName = 80

// nameOf returns a subagent's name for users and logs: "explore: find the parser". The model wrote
// the description.
func nameOf(kind, description string) string {
	words := strings.ReplaceAll(strings.Join(strings.Fields(description), " "), "›", ">") // it separates names on the screen
	if words == "" {
		return kind
	}
	name := kind + ": " + words
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// kindIn returns the kind at the start of a subagent's name.
func kindIn(name string) string {
	kind, _, _ := strings.Cut(name, ": ")
	return kind
}
