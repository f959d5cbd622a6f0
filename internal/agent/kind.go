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

// taskTool starts subagents.
const taskTool = "task"

// kinds are all of them. Whether one starts others is a matter of depth, not of its kind.
func kinds() []kind {
	return []kind{
		{Explorer, func(d tool.Definition) bool {
			return slices.Contains(lookers(), d.Name) && !d.Permissions.SideEffects()
		}},
		{"general", func(d tool.Definition) bool { return d.Name != "tool_search" }},
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
	words := strings.ReplaceAll(strings.Join(strings.Fields(description), " "), strings.TrimSpace(pathMark), ">")
	if words == "" {
		return kind
	}
	name := kind + ": " + words
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// kindIn is the kind that the own name of a subagent begins with.
func kindIn(path string) string {
	if at := strings.LastIndex(path, pathMark); at >= 0 {
		path = path[at+len(pathMark):]
	}
	kind, _, _ := strings.Cut(path, ":")
	return kind
}
