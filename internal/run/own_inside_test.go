package run

import (
	"testing"

	"adze/internal/run/conversation"
	"adze/tool"
)

// TestOnlyTheOwnCommandIsNotAsked: what the user typed is theirs; nothing else passes under its
// name.
func TestOnlyTheOwnCommandIsNotAsked(t *testing.T) {
	question := func(name, agent string, needs ...tool.Need) tool.Question {
		return tool.Question{Tool: tool.Definition{Name: name}, Agent: agent, Needs: needs}
	}
	runs := tool.Need{Permission: tool.Execute, Target: "make"}
	var own conversation.OwnCommand
	if own.Is(question(conversation.ShellTool, "", runs)) {
		t.Error("nothing is being run")
	}
	own.Set("make")
	if !own.Is(question(conversation.ShellTool, "", runs)) {
		t.Error("the command is not recognised")
	}
	for name, q := range map[string]tool.Question{
		"another tool": question("task", "", runs), "a subagent": question(conversation.ShellTool, "helper", runs),
		"more than it":    question(conversation.ShellTool, "", runs, tool.Need{Permission: tool.Write, Target: "x"}),
		"another command": question(conversation.ShellTool, "", tool.Need{Permission: tool.Execute, Target: "make install"}),
		"another access":  question(conversation.ShellTool, "", tool.Need{Permission: tool.Write, Target: "make"}),
		"nothing":         question(conversation.ShellTool, ""),
	} {
		if own.Is(q) {
			t.Errorf("%s passes as the person's own command", name)
		}
	}
}
