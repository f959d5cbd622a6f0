package recorder

import (
	"testing"

	"adze/session"
	"adze/tool"
)

func TestAChangeIsAnnounced(t *testing.T) {
	known := map[string]bool{"read": false, "grep": false, "edit": true}
	answer := func(names ...string) session.Event {
		m := session.Message{Role: session.Assistant}
		for _, name := range names {
			m.Parts = append(m.Parts, session.Part{Kind: session.CallPart, Call: &tool.RawCall{Name: name}})
		}
		return session.MessageDone{Message: m}
	}
	for name, c := range map[string]struct {
		events []session.Event
		at     int // the first that foretells one; len(events): none does
	}{
		"an answer":                    {[]session.Event{session.TextDelta{}, answer()}, 2},
		"it reads once":                {[]session.Event{session.CallForming{Name: "read"}, answer("read", "grep"), session.ToolQueued{Event: tool.Event{Tool: "grep"}}, answer()}, 4},
		"it reads again":               {[]session.Event{answer("read"), session.CallForming{Name: "read"}, answer("read")}, 2},
		"a call to edit forms":         {[]session.Event{session.CallForming{Name: "read"}, session.CallForming{Name: "edit"}}, 1},
		"it edits":                     {[]session.Event{answer("read", "edit")}, 0},
		"a call to edit is queued":     {[]session.Event{session.ToolQueued{Event: tool.Event{Tool: "edit"}}}, 0},
		"a name that has to be mended": {[]session.Event{session.CallForming{Name: "Edit"}}, 0},
	} {
		f := Prefetch{SideEffects: func(name string) (bool, bool) { declared, ok := known[name]; return declared, ok }}
		at := 0
		for at < len(c.events) && !f.Announces(c.events[at]) {
			at++
		}
		if at != c.at {
			t.Errorf("%s: foretold by event %d, want %d", name, at, c.at)
		}
	}
}
