package archtest

// Exceptions are argued one by one.
func Exceptions() []Exception {
	return []Exception{
		{ruleInit, "internal/proc/shim", "init", "the shim must take the process over before anything else is initialised, and must not be forgotten"},
		{ruleWork, "internal/golden", "update", "the testing package parses flags that exist at import; no binary imports golden"},
	}
}
