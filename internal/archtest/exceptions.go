package archtest

// Exceptions are argued one by one.
func Exceptions() []Exception {
	return []Exception{
		{ruleInit, "internal/proc/shim", "init", "the shim must take the process over before anything else is initialised, and must not be forgotten"},
		{ruleCrowd, "toolset", "files", "a catalogue: one file a tool, and a reader looks for a tool by its file"},
		{ruleWork, "internal/golden", "update", "the testing package parses flags that exist at import; no binary imports golden"},
	}
}
