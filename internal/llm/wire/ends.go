package wire

import (
	"slices"
	"strings"

	"adze/session"
)

// Ending classifies a server's finish reason, in the words of every format and in either case;
// detail is additional text. finished reports that the answer is complete and its calls may run. An
// unknown reason means an incomplete answer: servers add reasons for giving up (vLLM repetition,
// gateways load_shed and budget_exceeded).
func (a *Answer) Ending(reason, detail string) (finished bool, err error) {
	about := strings.TrimSpace(reason + " " + detail)
	word := strings.ToLower(reason)
	is := func(list ...string) bool { return slices.Contains(list, word) }
	switch {
	case is("", "end", "end_turn", "pause_turn", "complete", "completed", "done", "finished", "normal", "load", "unload") ||
		containsAny(word, "stop", "eos", "tool_call", "tool_use") && !IsParseFailure(word) || is("function_call", "function_calls"):
		return true, nil
	case is("length", "max_tokens", "model_length", "max_output_tokens", "max_completion_tokens"):
		a.Done.Stop = session.StopLength
		return false, nil
	case is("model_context_window_exceeded", "context_length_exceeded", "context_window_exceeded"):
		return false, a.Client.failure(session.ContextError, a.Client.Provider+" ended the answer because its context is full ("+reason+")",
			a.Client.hint(session.ContextError, 0))
	case IsParseFailure(word):
		return false, a.Client.ParseFailure(reason, detail)
	case Blocked(word):
		return false, a.Client.Refused(about)
	case is("error", "abort", "network_error", "insufficient_system_resource", "timeout", "load_shed", "other"):
		return false, a.Client.Object(JSON("the model stopped with " + about)) // worth a retry
	}
	return false, a.Client.failure(session.BadResponse, a.Client.Provider+" ended the answer with "+about, "try again, or choose another model")
}
