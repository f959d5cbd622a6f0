package stream

import (
	"adze/session"
	"adze/tool"
)

// ExitCodes lists the codes for users, as docs/scripts.md does.
const ExitCodes = "0 done · 1 internal · 2 usage · 3 no model or key · 4 provider · 5 context · 6 budget · 7 denied · 8 tool · 9 refused · " +
	"10 session store · 11 reader gone · 12 truncated · 13 loop · 14 no answer · 15 taken over · 130 interrupted · 143 terminated"

// ExitCode returns a cause's stable exit code (docs/scripts.md, "Exit codes").
func ExitCode(c session.Cause) int {
	if code, ok := exitCodes[c]; ok {
		return code
	}
	return 1
}

var exitCodes = map[session.Cause]int{
	session.CauseDone: 0, session.CauseUsage: 2, session.CauseNoModel: 3, session.CauseProvider: 4, session.CauseContext: 5,
	session.CauseBudget: 6, session.CauseDenied: 7, session.CauseTool: 8, session.CauseRefused: 9, session.CauseStore: 10,
	session.CauseClosed: 11, session.CauseTruncated: 12, session.CauseLoop: 13, session.CauseNoAnswer: 14, session.CauseTaken: 15,
	session.CauseInterrupted: 130, session.CauseTerminated: 143,
}

func mark(s tool.Status) string {
	switch s {
	case tool.Completed:
		return "·"
	case tool.Aborted:
		return "-"
	}
	return "!"
}
