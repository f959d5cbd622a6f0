package agent

import (
	"slices"
	"strings"

	"adze/tool"
)

// kind is a sort of subagent: which of its parent's tools it has.
type kind struct {
	name string
	has  func(tool.Definition) bool
}

// Explorer is the kind that changes nothing, so that several may run together.
const Explorer = "explore"

// kinds are all of them. None starts another subagent: one level keeps what a person approved in sight, and
// what a run costs within what its model can oversee.
func kinds() []kind {
	return []kind{
		{Explorer, func(d tool.Definition) bool {
			return slices.Contains(lookers(), d.Name) && !d.Permissions.SideEffects()
		}},
		{"general", func(d tool.Definition) bool { return d.Name != "task" && d.Name != "tool_search" }},
	}
}

// lookers are the tools that only read or fetch.
func lookers() []string {
	return []string{"read", "glob", "grep", "list", "git_status", "git_diff", "git_log", "webfetch", "websearch", "ask"}
}

func kindOf(name string) (kind, error) {
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, tool.Fail(tool.CodeInvalidArguments, "there is no agent %q; use one of: %s", name, kindNames())
}

func kindNames() string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// maxName bounds a subagent's name, in bytes.
const maxName = 80

// nameOf names a subagent for people and logs: "explore: find the parser". The description is a model's.
func nameOf(kind, description string) string {
	words := strings.Join(strings.Fields(description), " ")
	if words == "" {
		return kind
	}
	name := kind + ": " + words
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// kindIn is the kind that a name begins with.
func kindIn(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	return kind
}
