package live

import (
	"encoding/json"

	"adze/session"
	"adze/tool"
)

// Logged returns a log entry's events. There are none for unreadable entries or those that only
// serve for statistics.
func Logged(e session.Entry) []session.Event {
	switch e.Type {
	case session.MessageEntry, session.NoteEntry:
		var m session.Message
		if json.Unmarshal(e.Data, &m) == nil && m.OwnCall == "" {
			return append([]session.Event{session.MessageDone{Message: m}}, queued(m)...)
		}
	case session.FragmentEntry:
		var f session.Fragment
		if json.Unmarshal(e.Data, &f) == nil {
			return fragment(f)
		}
	case session.RequestEntry:
		var f session.FailedRequest
		if json.Unmarshal(e.Data, &f) == nil {
			return []session.Event{session.Retry{Message: f.Message, Attempt: f.Attempt, Cause: f.Error}}
		}
	case session.IntentEntry:
		var r tool.Record
		if json.Unmarshal(e.Data, &r) == nil {
			return []session.Event{session.ToolStart{Event: tool.Event{Kind: tool.Started, Call: r.Call, Tool: r.Tool, Args: r.Args}}}
		}
	case session.OutcomeEntry:
		var o tool.Outcome
		if json.Unmarshal(e.Data, &o) == nil {
			return []session.Event{session.ToolEnd{Outcome: o}}
		}
	case session.RewindEntry:
		return []session.Event{session.Notice{Text: "the last prompt, and what came of it, was taken back"}}
	case session.CompactEntry:
		var c session.Compaction
		if json.Unmarshal(e.Data, &c) == nil {
			return []session.Event{session.Compacted{Compaction: c}}
		}
	case session.EndEntry:
		var r session.Result
		if json.Unmarshal(e.Data, &r) == nil && r.Cause != session.CauseDone {
			return []session.Event{session.Notice{Text: "the turn ended: " + r.Message}}
		}
	}
	return nil
}

func fragment(f session.Fragment) []session.Event {
	switch {
	case f.Text == "":
		return nil
	case f.Kind == session.ReasoningPart:
		return []session.Event{session.ReasoningDelta{Message: f.Message, Delta: f.Text}}
	}
	return []session.Event{session.TextDelta{Message: f.Message, Delta: f.Text}}
}

// queued returns events for an answer's calls that have not begun.
func queued(m session.Message) (out []session.Event) {
	for _, c := range m.Calls() {
		out = append(out, session.ToolQueued{Event: tool.Event{Kind: tool.Queued, Call: c.ID, Tool: c.Name}})
	}
	return out
}
