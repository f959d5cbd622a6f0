package stream

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/session"
	"adze/tool"
)

// TestAnEndHasItsOutputWithinBounds: the beginning of a long one with the length of all, cut at a
// character, and only as many bytes of attachments as a line may have.
func TestAnEndHasItsOutputWithinBounds(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{Out: &out, Err: &bytes.Buffer{}, Format: StreamJSON}
	long := "x" + strings.Repeat("é", maxOutput)
	p.Observe(session.ToolEnd{Outcome: tool.Outcome{Output: long, Attachments: []tool.Attachment{
		{Name: "a", MediaType: "image/png", Data: make([]byte, maxData-5)}, {Name: "b", Data: make([]byte, 6)}, {Name: "c", Data: []byte("12345")}}}})
	var l endLineOf
	if err := json.Unmarshal(out.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Output) != maxOutput-1 || !utf8.ValidString(l.Output) || !strings.HasPrefix(long, l.Output) || l.OutputBytes != len(long) {
		t.Errorf("%d of %d bytes", len(l.Output), l.OutputBytes)
	}
	if len(l.Attachments) != 3 || len(l.Attachments[0].Data) != maxData-5 || l.Attachments[1].Data != nil || l.Attachments[1].Bytes != 6 || string(l.Attachments[2].Data) != "12345" {
		t.Errorf("%d attachments, of %d bytes", len(l.Attachments), len(l.Attachments[0].Data))
	}
}
