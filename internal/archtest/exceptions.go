package archtest

// Exceptions are argued one by one.
func Exceptions() []Exception {
	return []Exception{
		{ruleInit, "internal/proc/shim", "init", "the shim must take the process over before anything else is initialised, and must not be forgotten"},
		{ruleCrowd, "toolset", "files", "a catalogue: one file a tool, and a reader looks for a tool by its file"},
		{ruleProcess, "internal/desk", "editor.go", "the person's own editor, in their terminal, which the shim would take from it"},
		{ruleProcess, "internal/desk", "clipboard.go", "the program that holds the person's clipboard, at their key"},
		{ruleProcess, "internal/mcp/oauth", "open.go", "the person's own browser, at their command, which stays when adze ends"},
		{ruleProcess, "internal/batch", "child.go", "an adze of the person's own, which below a shim would take their flags for those of a command, and trust none"},
		{ruleProcess, "internal/doctor", "machine.go", "it asks the tmux that the person sits in for one setting"},
		{ruleProcess, "internal/sandbox", "site.go", "the process whose neighbours the self-test of the sandbox must not see"},
		{ruleProcess, "internal/proxy/proxytest", "proxytest.go", "for tests only"},
		{ruleProcess, "internal/picture", "main.go", "it draws the pictures of the README; no run links it"},
		{ruleProcess, "internal/picture", "pane.go", "the same"},
		{ruleProcess, "internal/bench/floor", "main.go", "the least that any assistant takes, to be measured against; no run links it"},
		{ruleExec, "internal/command", "permission_why.go", "its gate writes down what was asked and denies, so that nothing runs"},
		{ruleWork, "internal/golden", "update", "the testing package parses flags that exist at import; no binary imports golden"},
	}
}
