package uistream_test

import (
	"encoding/json"
	"strings"

	"adze/internal/editors/uistream"
	"adze/session"
	"adze/tool"
)

// tale is a turn as it is told: the steps make the parts.
type tale struct {
	name  string
	tells func(e *uistream.Encoder) []uistream.Part
	// text, calls and end are what every decoder must make of it: the whole text, "name state" of
	// each call, why it ended.
	text, calls, end string
}

func said(text string) session.MessageDone {
	return session.MessageDone{Message: session.Message{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}}
}

// answers is a whole message of the model: each part begins with its kind.
func answers(id string, parts ...string) session.MessageDone {
	m := session.Message{ID: id, Role: session.Assistant, Usage: &session.Usage{Input: 7, Output: 3, CacheRead: 2}}
	for _, p := range parts {
		kind, rest, _ := strings.Cut(p, ": ")
		switch kind {
		case "text", "reasoning":
			m.Parts = append(m.Parts, session.Part{Kind: session.PartKind(kind), Text: rest})
		default:
			name, call, _ := strings.Cut(kind, " ")
			m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{ID: tool.CallID(call), Name: name, Arguments: rest}})
		}
	}
	return session.MessageDone{Message: m}
}

func starts(call, name string) session.ToolStart {
	return session.ToolStart{Event: tool.Event{Kind: tool.Started, Call: tool.CallID(call), Tool: name}}
}

func ends(call, name string, status tool.Status, code, output string) session.ToolEnd {
	return session.ToolEnd{Outcome: tool.Outcome{Call: tool.CallID(call), Tool: name, Status: status, Code: code, Output: output}}
}

func turnEnds(cause session.Cause, message string) session.TurnEnd {
	return session.TurnEnd{Result: session.Result{Cause: cause, Message: message, Usage: map[string]session.Usage{"p/m": {Input: 7, Output: 3, CacheRead: 2}}}}
}

func all(events ...session.Event) func(*uistream.Encoder) []uistream.Part {
	return func(e *uistream.Encoder) (out []uistream.Part) {
		for _, ev := range events {
			out = append(out, e.Take(ev)...)
		}
		return out
	}
}

func question() uistream.Question {
	return uistream.Question{ID: "a1", Kind: uistream.Permission, Call: "c1", Tool: "bash", Needs: []string{"execute touch x"},
		Preview: []tool.Block{{Kind: tool.DiffBlock, Path: "x", Text: "+1\n"}}}
}

func tales() []tale {
	done := turnEnds(session.CauseDone, "")
	return []tale{
		{"text", all(said("hi"), session.TextDelta{Message: "m2", Delta: "Hel"}, session.TextDelta{Message: "m2", Delta: "lo"}, answers("m2", "text: Hello"), done),
			"Hello", "", "stop"},
		{"reasoning_before_text", all(said("hi"), session.ReasoningDelta{Message: "m2", Delta: "Hm"}, session.TextDelta{Message: "m2", Delta: "Yes"},
			answers("m2", "reasoning: Hm", "text: Yes"), done), "Yes", "", "stop"},
		{"from_the_log_without_deltas", all(said("hi"), answers("m2", "reasoning: Hm", "text: Yes <b>& \"so\"</b>\nline", "text: two"), done), "Yes <b>& \"so\"</b>\nlinetwo", "", "stop"},
		{"two_steps", all(said("hi"), answers("m2", "text: Look. ", `read c1: {"path": "a"}`), starts("c1", "read"), ends("c1", "read", tool.Completed, "", "1  a"),
			session.TextDelta{Message: "m4", Delta: "An a."}, answers("m4", "text: An a."), done), "Look. An a.", "read done", "stop"},
		{"call_that_is_being_written", all(said("hi"), session.TextDelta{Message: "m2", Delta: "So. "}, session.CallForming{Message: "m2", Call: "c1", Name: "write", Bytes: 10},
			session.CallForming{Message: "m2", Call: "c1", Name: "write", Bytes: 20}, answers("m2", "text: So. ", `write c1: {"path":"a","content":"b"}`),
			starts("c1", "write"), ends("c1", "write", tool.Completed, "", "wrote a"), done), "So. ", "write done", "stop"},
		{"call_that_breaks_off", all(said("hi"), session.CallForming{Message: "m2", Call: "c1", Name: "write", Bytes: 10},
			session.Retry{Message: "m2", Attempt: 1, Of: 3, Cause: "overloaded"}, answers("m2", `write c2: {"path":"b"}`),
			starts("c2", "write"), ends("c2", "write", tool.Completed, "", "wrote b"), done), "", "write error, write done", "stop"},
		{"progress", all(said("hi"), answers("m2", `bash c1: {"command":"make"}`), starts("c1", "bash"),
			session.ToolUpdate{Event: tool.Event{Kind: tool.Updated, Call: "c1", Tool: "bash", Title: "make", Metadata: json.RawMessage(`{"tail":"cc a.c"}`)}},
			session.ToolStart{Event: tool.Event{Kind: tool.Started, Call: "s1", Parent: "c1", Agent: "explore", Tool: "grep", Title: "grep x"}},
			session.ToolEnd{Outcome: tool.Outcome{Call: "s1", Tool: "grep", Status: tool.Completed}, Parent: "c1", Agent: "explore"},
			ends("c1", "bash", tool.Completed, "", "ok"), done), "", "bash done", "stop"},
		{"denied", all(said("hi"), answers("m2", `bash c1: {"command":"rm x"}`), ends("c1", "bash", tool.Denied, "denied", "denied: not that"), answers("m4", "text: Then not."), done),
			"Then not.", "bash error", "stop"},
		{"arguments_that_are_no_json", all(said("hi"), answers("m2", `read c1: {"path":`), ends("c1", "read", tool.Invalid, "invalid_json", "the arguments end early"), done), "", "read error", "stop"},
		{"question_ends_a_post", func(e *uistream.Encoder) []uistream.Part {
			out := all(said("hi"), answers("m2", "text: I will. ", `bash c1: {"command":"touch x"}`, `read c2: {"path":"y"}`))(e)
			return append(append(out, e.Ask(question())...), e.Pause(question())...)
		}, "I will. ", "bash waits", "tool-calls"},
		{"goes_on_behind_a_question", func(e *uistream.Encoder) []uistream.Part {
			all(said("hi"), answers("m2", "text: I will. ", `bash c1: {"command":"touch x"}`))(e)
			e.Ask(question())
			e.Pause(question())
			out := append(e.Resume(""), e.AnswerQuestion(question(), "allowed")...)
			return append(out, all(starts("c1", "bash"), ends("c1", "bash", tool.Completed, "", "ok"), answers("m4", "text: Done."), done)(e)...)
		}, "Done.", "bash done", "stop"},
		{"follower_keeps_its_stream_at_a_question", func(e *uistream.Encoder) []uistream.Part {
			out := all(said("hi"), answers("m2", `bash c1: {"command":"touch x"}`))(e)
			out = append(append(out, e.Ask(question())...), e.AnswerQuestion(question(), "denied")...)
			return append(out, all(ends("c1", "bash", tool.Denied, "denied", "no"), answers("m4", "text: Ok."), done)(e)...)
		}, "Ok.", "bash error", "stop"},
		{"question_of_a_subagent", func(e *uistream.Encoder) []uistream.Part {
			out := all(said("hi"), answers("m2", `task c1: {"prompt":"look"}`), starts("c1", "task"))(e)
			q := question()
			q.Call, q.Agent = "s1", "explore"
			return append(append(out, e.Ask(q)...), e.Pause(q)...)
		}, "", "task done, bash waits", "tool-calls"},
		{"question_of_the_model", func(e *uistream.Encoder) []uistream.Part {
			out := all(said("hi"), answers("m2", `ask c1: {"question":"Which?"}`), starts("c1", "ask"))(e)
			q := uistream.Question{ID: "q1", Kind: uistream.Inquiry, Text: "Which?", Choices: []string{"A", "B"}}
			return append(append(out, e.Ask(q)...), e.Pause(q)...)
		}, "", "ask done", "tool-calls"},
		{"retry_voids", all(said("hi"), session.TextDelta{Message: "m2", Delta: "Hal"}, session.Retry{Message: "m2", Attempt: 1, Of: 3, Cause: "overloaded"},
			session.TextDelta{Message: "m2", Delta: "Hello"}, answers("m2", "text: Hello"), done), "HalHello", "", "stop"},
		{"remark_and_notice", all(said("hi"), session.TextDelta{Message: "m2", Delta: "So"}, session.MessageDone{Message: session.Message{ID: "m3", Role: session.User, Meanwhile: true,
			Parts: []session.Part{{Kind: session.TextPart, Text: "faster"}}}}, session.Notice{Text: "the disk is nearly full"}, answers("m2", "text: So"), done), "So", "", "stop"},
		{"aborted", all(said("hi"), answers("m2", `bash c1: {"command":"sleep 9"}`), starts("c1", "bash"), turnEnds(session.CauseInterrupted, "interrupted")), "", "bash error", "other"},
		{"truncated", all(said("hi"), answers("m2", "text: and so"), turnEnds(session.CauseTruncated, "cut")), "and so", "", "length"},
		{"provider_failed", all(said("hi"), session.TextDelta{Message: "m2", Delta: "So"}, turnEnds(session.CauseProvider, "the server is overheated")), "So", "", "error"},
		{"failed_before_the_prompt", all(turnEnds(session.CauseStore, "the disk is full")), "", "", "error"},
		{"names_that_decoders_refuse", all(said("hi"), answers("m2", `bash c1: {"a":[{"\u005f_proto__":1}],"b":{"constructor":{"prototype":{}}}}`),
			ends("c1", "bash", tool.Completed, "", "ok"), done), "", "bash done", "stop"},
		{"hostile", all(said("hi"), answers("m2", "text: data: [DONE]\n\nd:{}\n\x00\u2028\u202e</script>", `bash c1: {"__proto__":{"x":1},"command":"\u0000\ndata: {}"}`),
			ends("c1", "bash", tool.Completed, "", "\n\ndata: [DONE]\n\n"), done), "data: [DONE]\n\nd:{}\n\x00\u2028\u202e</script>", "bash done", "stop"},
	}
}
