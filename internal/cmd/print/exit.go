package print

import (
	"adze/session"
	"adze/tool"
)

// ExitCodes lists them for people, as docs/scripts.md does.
const ExitCodes = "0 done · 1 internal · 2 usage · 3 no model or key · 4 provider · 5 context · 6 budget · 7 denied · 8 tool · 9 refused · " +
	"10 session store · 11 reader gone · 12 truncated · 13 loop · 14 no answer · 15 taken over · 130 interrupted · 143 terminated"

// ExitCode is the stable exit code of a cause (docs/scripts.md, "Exit codes").
func ExitCode(c session.Cause) int {
	switch c {
	case session.CauseDone:
		return 0
	case session.CauseUsage:
		return 2
	case session.CauseNoModel:
		return 3
	case session.CauseProvider:
		return 4
	case session.CauseContext:
		return 5
	case session.CauseBudget:
		return 6
	case session.CauseDenied:
		return 7
	case session.CauseTool:
		return 8
	case session.CauseRefused:
		return 9
	case session.CauseStore:
		return 10
	case session.CauseClosed:
		return 11
	case session.CauseTruncated:
		return 12
	case session.CauseLoop:
		return 13
	case session.CauseNoAnswer:
		return 14
	case session.CauseTaken:
		return 15
	case session.CauseInterrupted:
		return 130
	case session.CauseTerminated:
		return 143
	}
	return 1
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
