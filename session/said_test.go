package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/tool"
)

// TestTheLogKeepsEveryFieldOfAMessage but outcomes, which have entries of their own.
func TestTheLogKeepsEveryFieldOfAMessage(t *testing.T) {
	m := Message{
		ID: "m1", Role: Assistant, Provider: "p", Model: "m", Stop: StopCalls, Usage: &Usage{Input: 1}, Prompt: "aa", Took: time.Second,
		Parts: []Part{
			{Kind: TextPart, Text: "a <b> & c"}, {Kind: ReasoningPart, Text: "hm", Opaque: json.RawMessage(`"sig"`)},
			{Kind: CallPart, Call: &tool.RawCall{ID: "c1", Name: "read", Arguments: `{"path":"a"}`}},
			{Kind: AttachmentPart, Attachment: &tool.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("x")}},
		},
	}
	fields := func(v any) (out any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if d := cmp.Diff(fields(m), fields(said(m))); d != "" {
		t.Errorf("a field is written otherwise (-message +log):\n%s", d)
	}
	raw, err := json.Marshal(said(m))
	if err != nil {
		t.Fatal(err)
	}
	var back Message
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, back, cmpopts.IgnoreUnexported(Part{}, tool.RawCall{})); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
}
