package stream_test

import (
	"strings"
	"testing"

	"adze/internal/stream"
	"adze/session"
)

// What fills the context is a line after each request; what the cache lost is a notice, and only
// what nobody wanted is told to a user who reads text.
func TestTheContextAndThePrefixArePrinted(t *testing.T) {
	events := []session.Event{
		session.Counted{Ledger: session.Ledger{Estimate: 7}}, // before a request: for panes
		session.Counted{Message: "m2", Ledger: session.Ledger{
			Estimate: 30, Factor: 1.5, Window: 200,
			Sources: []session.Source{{Group: session.ToolsGroup, Name: "a", Tokens: 10}, {Group: session.ToolsGroup, Name: "b", Tokens: 15}, {Group: session.MessagesGroup, Name: "c", Tokens: 5}},
		}},
		session.PrefixChanged{Change: session.PrefixChange{Message: "m2", Causes: []string{"the system prompt changed"}, Lost: 9}},
		session.PrefixChanged{Change: session.PrefixChange{Message: "m3", Causes: []string{"message m1 was taken back"}, Expected: true}},
	}
	for _, c := range []struct {
		format         stream.Format
		stdout, stderr string
	}{
		{stream.Text, "", "! warning: the system prompt changed (about 9 tokens are read again without the cache)\n"},
		{stream.JSON, "", ""},
		{stream.StreamJSON, `{"type":"context","message":"m2","estimate_tokens":30,"factor":1.5,"context_tokens":200,"sources":{"messages":5,"tools":25},"cost_usd":null}
{"type":"notice","text":"the system prompt changed (about 9 tokens are read again without the cache)","prefix":{"time":"0001-01-01T00:00:00Z","message":"m2","causes":["the system prompt changed"],"expected":false,"lost_tokens":9}}
{"type":"notice","text":"message m1 was taken back","prefix":{"time":"0001-01-01T00:00:00Z","message":"m3","causes":["message m1 was taken back"],"expected":true}}
`, ""},
	} {
		var out, err strings.Builder
		p := &stream.Printer{Out: &out, Err: &err, Format: c.format}
		for _, e := range events {
			p.Observe(e)
		}
		if out.String() != c.stdout || err.String() != c.stderr {
			t.Errorf("%s:\nstdout %s\nstderr %s", c.format, out.String(), err.String())
		}
	}
}
