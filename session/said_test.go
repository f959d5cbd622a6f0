package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/tool"
)

// TestTheLogKeepsEveryFieldOfAMessage but outcomes, which have entries of their own.
func TestTheLogKeepsEveryFieldOfAMessage(t *testing.T) {
	m := Message{
		ID: "m1", Role: Assistant, Provider: "p", Model: "m", Stop: StopCalls, Usage: &Usage{Input: 1}, Prompt: "aa", Duration: time.Second,
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

// A long text is written past the encoder, and the log holds the same bytes.
func TestALongAnswerIsLoggedAsAShortOne(t *testing.T) {
	long := strings.Repeat("a \"line\" <of> é \x00\x7f \u2028 prose\n", 4000)
	for _, parts := range [][]Part{
		{{Kind: TextPart, Text: long}},
		{{Kind: ReasoningPart, Text: long, Opaque: json.RawMessage(`{"signature":"x"}`)}, {Kind: TextPart, Text: "short"}, {Kind: TextPart, Text: long + "2"}},
		{{Kind: TextPart, Text: "\x000\x00"}, {Kind: TextPart, Text: long}, {Kind: CallPart, Call: &tool.RawCall{ID: "c", Name: "read", Arguments: "{}"}}},
	} {
		m := Message{ID: "m1", Role: Assistant, Parts: parts, Stop: StopEnd, Usage: &Usage{Input: 1}}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(said(m)); err != nil {
			t.Fatal(err)
		}
		s := &Session{config: Config{Host: Host{Now: time.Now}}}
		if got := s.entry(MessageEntry, said(m)).Data; string(got)+"\n" != want.String() {
			t.Errorf("%d parts are logged otherwise: %.300s", len(parts), got)
		}
		if !strings.HasPrefix(m.Text(), "short") && !strings.Contains(m.Text(), "prose") {
			t.Error("the message itself was changed")
		}
	}
}

// A pile gives back what was put in, from anywhere.
func TestPile(t *testing.T) {
	var p pile
	var all string
	for i := range 300 {
		delta := strings.Repeat(string(rune('a'+i%26)), i*i%3000)
		if i == 150 {
			delta = strings.Repeat("long", blockBytes)
		}
		all += delta
		p.add(delta)
	}
	for from := 0; from <= len(all); from += 7919 {
		if p.since(from) != all[from:] {
			t.Fatalf("from %d on it is another text", from)
		}
	}
	if p.bytes != len(all) {
		t.Errorf("%d bytes of %d", p.bytes, len(all))
	}
}
