package archtest

// Exceptions returns the reasoned exceptions.
func Exceptions() []Exception {
	return []Exception{
		{ruleInit, "internal/sandbox/proc/shim", "init", "the shim must take the process over before anything else is initialised, and must not be forgotten"},
		{ruleRename, "internal/cmd/doctor", "selftest.go", "it tries whether this system replaces a file in one step"},
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
