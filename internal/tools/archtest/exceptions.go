package archtest

// Exceptions returns the reasoned exceptions.
func Exceptions() []Exception {
	return []Exception{
		{ruleInit, "internal/sandbox/proc/shim", "init", "the shim must take the process over before anything else is initialised, and must not be forgotten"},
		{ruleProcess, "internal/run/hostio", "editor.go", "the person's own editor, in their terminal, which the shim would take from it"},
		{ruleProcess, "internal/run/hostio", "beside.go", "adze itself, in the user's terminal, which the shim would take from it"},
		{ruleProcess, "internal/run/hostio", "clipboard.go", "the program that holds the person's clipboard, at their key"},
		{ruleProcess, "internal/mcp/oauth", "open.go", "the person's own browser, at their command, which stays when adze ends"},
		{ruleProcess, "internal/fleet/batch", "child.go", "an adze of the person's own, which below a shim would take their flags for those of a command, and trust none"},
		{ruleProcess, "internal/cmd/doctor", "machine.go", "it asks the tmux that the person sits in for one setting"},
		{ruleProcess, "internal/sandbox", "site.go", "the process whose neighbours the self-test of the sandbox must not see"},
		{ruleProcess, "internal/testkit/proxytest", "proxytest.go", "for tests only"},
		{ruleProcess, "internal/testkit/natstest", "natstest.go", "for tests only: what is killed and stopped by its number cannot stand below a shim"},
		{ruleProcess, "internal/testkit/browsertest", "browsertest.go", "for tests only: a browser that tests drive"},
		{ruleProcess, "internal/testkit/posix", "posix_unix.go", "for tests only: it sets how a program of theirs starts"},
		{ruleProcess, "internal/testkit/posix", "posix_windows.go", "the same"},
		{ruleRename, "internal/cmd/doctor", "selftest.go", "it tries whether this system replaces a file in one step"},
		{ruleProcess, "internal/tools/picture", "main.go", "it draws the pictures of the README; no run links it"},
		{ruleProcess, "internal/tools/picture", "pane.go", "the same"},
		{ruleProcess, "internal/tools/release", "command.go", "it makes releases; no run links it"},
		{ruleProcess, "internal/tools/bench/floor", "main.go", "the least that any assistant takes, to be measured against; no run links it"},
		{ruleRename, "internal/files/workspace", "disk_unix.go", "a person's file by an open folder, which keeps owner, mode and attributes"},
		{ruleRename, "internal/files/workspace", "disk_linux.go", "the same, where nothing may be there yet"},
		{ruleRename, "internal/undo", "change_linux.go", "two files of a person change places"},
		{ruleRename, "internal/undo", "folder_darwin.go", "the same"},
		{ruleRename, "internal/sessiondb", "rescue.go", "the same"},
		{ruleRename, "internal/project/trust", "book.go", "a damaged book is put aside"},
		{ruleRename, "internal/sandbox/overlay/entry", "rename_linux.go", "entries of a user's folder by its descriptor, below a journal"},
		{ruleRename, "internal/sandbox", "survey.go", "what a command planted is put aside"},
		{ruleRename, "internal/fleet/batch", "clone.go", "a folder"},
		{ruleRename, "internal/tools/release", "release.go", "a folder"},
		{ruleLine, "internal/text", "lines.go", "of a line of any length it keeps the beginning and counts the rest"},
		{ruleLine, "internal/mcp/remote", "events.go", "it bounds events, which are of many lines, and counts every byte when it comes"},
		{ruleExec, "internal/cmd", "permission_why.go", "its gate writes down what was asked and denies, so that nothing runs"},
		{ruleWork, "internal/testkit/golden", "update", "the testing package parses flags that exist at import; no binary imports golden"},
	}
}
