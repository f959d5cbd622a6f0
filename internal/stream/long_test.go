package stream

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/text/redact"
	"adze/session"
)

// A long answer is written in pieces: the same lines as of a short one, without secrets and control
// bytes.
func TestALongAnswerIsWrittenInPieces(t *testing.T) {
	const own = "own secret 123 \"word\""
	long := strings.Repeat("a \"line\" <of> é \x7f\u0085 \u202e\u200b\U000E0041 prose\n", 4000)
	said := session.Message{ID: "m2", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: long + own}, {Kind: session.TextPart, Text: "end"}}}
	for _, format := range []Format{JSON, StreamJSON} {
		var out bytes.Buffer
		p := &Printer{Out: &out, Err: &bytes.Buffer{}, Format: format, Mask: func() *redact.Masker { return redact.New(own) }}
		p.Observe(session.MessageDone{Message: said})
		p.Finish(session.Result{Cause: session.CauseDone, Text: said.Text()})
		if bytes.ContainsFunc(out.Bytes(), func(r rune) bool { return escapes(r) || r < ' ' && r != '\n' }) {
			t.Errorf("%s: a control byte is written", format)
		}
		want := long + redact.Mark
		for line := range strings.Lines(out.String()) {
			var got struct {
				Type, Text string
				Message    json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			var m session.Message
			switch got.Type {
			case "result":
				if got.Text != want+"end" {
					t.Errorf("%s: the result has another text of %d bytes", format, len(got.Text))
				}
			case "message":
				if err := json.Unmarshal(got.Message, &m); err != nil || m.Parts[0].Text != want || m.Parts[1].Text != "end" || m.ID != "m2" {
					t.Errorf("%s: %v, %d parts", format, err, len(m.Parts))
				}
			}
		}
		if n := strings.Count(out.String(), "\n"); n != map[Format]int{JSON: 1, StreamJSON: 2}[format] {
			t.Errorf("%s: %d lines", format, n)
		}
	}
}

// sink takes all and keeps nothing.
type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// Writing a long answer holds no copy of it: what is allocated on the way is small pieces.
func TestALongAnswerIsNotCopied(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates more")
	}
	text := strings.Repeat("a \"line\" of prose\n", 1<<18)
	p := &Printer{Out: sink{}, Err: sink{}, Format: JSON}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Finish(session.Result{Cause: session.CauseDone, Text: text})
	runtime.ReadMemStats(&after)
	if used := int(after.TotalAlloc - before.TotalAlloc); used > len(text) {
		t.Errorf("%d bytes took %d", len(text), used)
	}
}
