package conversation

import (
	"testing"

	"adze/tool"
)

// TestOnlyTheOwnCommandIsNotAsked: what the user typed is theirs; nothing else passes under its
// name.
func TestOnlyTheOwnCommandIsNotAsked(t *testing.T) {
	question := func(name, agent string, needs ...tool.Need) tool.Question {
		return tool.Question{Tool: tool.Definition{Name: name}, Agent: agent, Needs: needs}
	}
	runs := tool.Need{Permission: tool.Execute, Target: "make"}
	var own ownCommand
	if own.is(question(ShellTool, "", runs)) {
		t.Error("nothing is being run")
	}
	own.text.Store("make")
	if !own.is(question(ShellTool, "", runs)) {
		t.Error("the command is not recognised")
	}
	for name, q := range map[string]tool.Question{
		"another tool": question("task", "", runs), "a subagent": question(ShellTool, "helper", runs),
		"more than it":    question(ShellTool, "", runs, tool.Need{Permission: tool.Write, Target: "x"}),
		"another command": question(ShellTool, "", tool.Need{Permission: tool.Execute, Target: "make install"}),
		"another access":  question(ShellTool, "", tool.Need{Permission: tool.Write, Target: "make"}),
		"nothing":         question(ShellTool, ""),
	} {
		if own.is(q) {
			t.Errorf("%s passes as the person's own command", name)
		}
	}
}
