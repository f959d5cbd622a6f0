package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/replay"
	"adze/session"
	"adze/tool"
)

// teller answers each request with the next list of chunks.
type teller struct {
	answers [][]session.Chunk
	asked   int
}

func (t *teller) Name() string { return "teller" }

func (t *teller) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	chunks := t.answers[t.asked]
	t.asked++
	return func(yield func(session.Chunk) bool) {
		for _, c := range chunks {
			if !yield(c) {
				return
			}
		}
	}
}

func conversation() [][]session.Chunk {
	return [][]session.Chunk{
		{
			session.Reasoning{Delta: "hm"}, session.Reasoning{Opaque: []byte(`{"signature":"x"}`)},
			session.Text{Delta: "I will "}, session.Text{Delta: "look. <&>"},
			session.Forming{ID: "c1", Name: "bash", Bytes: 3},
			session.Call{RawCall: tool.RawCall{ID: "c1", Name: "bash", Arguments: `{"command": "go test"}`, Origin: tool.Native}},
			session.Done{Stop: session.StopCalls, Usage: session.Usage{Input: 10, Output: 3}},
		},
		{session.Text{Delta: "done"}, session.Done{Stop: session.StopEnd, Usage: session.Usage{Input: 20}, Notice: "cut"}},
	}
}

func prompt(text string) session.Message {
	return session.Message{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}}
}

func history(output string) []session.Message {
	return []session.Message{
		prompt("fix it"),
		{ID: "m2", Role: session.Assistant, Parts: []session.Part{
			{Kind: session.ReasoningPart, Text: "hm"}, {Kind: session.TextPart, Text: "I will look. <&>"},
			{Kind: session.CallPart, Call: &tool.RawCall{ID: "c1", Name: "bash", Arguments: `{"command": "go test"}`}}}},
		{ID: "m3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{
			Call: "c1", Tool: "bash", Status: tool.Completed, Output: output}}}},
	}
}

func ask(p session.Provider, messages []session.Message) []session.Chunk {
	var out []session.Chunk
	for c := range p.Stream(context.Background(), session.Request{Model: "m", System: "s", Messages: messages}) {
		out = append(out, c)
	}
	return out
}

// record makes a recording of the conversation with one output.
func record(t *testing.T, output string) string {
	t.Helper()
	var file bytes.Buffer
	r := replay.NewRecorder(&teller{answers: conversation()}, &file)
	for i, messages := range [][]session.Message{history(output)[:1], history(output)} {
		if diff := cmp.Diff(conversation()[i], ask(r, messages)); diff != "" {
			t.Fatalf("recording changed the answer (-want +got):\n%s", diff)
		}
	}
	return file.String()
}

func player(t *testing.T, recording string) *replay.Player {
	t.Helper()
	p, err := replay.NewPlayer(strings.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARecordingIsServedChunkForChunk(t *testing.T) {
	p := player(t, record(t, "ok 0.31s"))
	if p.Name() != "teller" || p.Model() != "m" {
		t.Errorf("name %q, model %q", p.Name(), p.Model())
	}
	for i, messages := range [][]session.Message{history("")[:1], history("ok 0.72s")} {
		if diff := cmp.Diff(conversation()[i], ask(p, messages)); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i+1, diff)
		}
	}
}

// failure is the error of an answer that is nothing but a failed end.
func failure(t *testing.T, chunks []session.Chunk) *session.ProviderError {
	t.Helper()
	if len(chunks) != 1 {
		t.Fatalf("chunks = %v, want only an end", chunks)
	}
	done, _ := chunks[0].(session.Done)
	var p *session.ProviderError
	if !errors.As(done.Err, &p) || p.Kind != session.ReplayError || p.Hint == "" {
		t.Fatalf("err = %v, want a replay error with a hint", done.Err)
	}
	return p
}

func TestADifferenceNamesStepAndPlace(t *testing.T) {
	recording := record(t, "FAIL: TestMedian\nwant 3")
	for name, c := range map[string]struct {
		messages []session.Message
		says     []string
	}{
		"another prompt":  {[]session.Message{prompt("fix that")}, []string{"step 1", "message of the user differs", "fix it", "fix that"}},
		"another outcome": {history("FAIL: TestMedian\nwant 4"), []string{"step 2", "outcome of bash differs", "want 3", "want 4"}},
		"a new message":   {append(history("FAIL: TestMedian\nwant 3"), prompt("and?")), []string{"step 2", "message of the user is new"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := player(t, recording)
			if len(c.messages) > 1 {
				ask(p, history("")[:1])
			}
			err := failure(t, ask(p, c.messages))
			for _, part := range c.says {
				if !strings.Contains(err.Message, part) {
					t.Errorf("%q does not say %q", err.Message, part)
				}
			}
		})
	}
}

func TestARunThatGoesOnIsStopped(t *testing.T) {
	p := player(t, record(t, "ok"))
	ask(p, history("ok")[:1])
	ask(p, history("ok"))
	if err := failure(t, ask(p, history("ok"))); !strings.Contains(err.Message, "only 2 steps") {
		t.Errorf("message = %q", err.Message)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	for _, secret := range []string{
		"sk-ant-api03-abcdefghijklmnop", "ghp_0123456789abcdefghijABCDEFGHIJ0123", "AKIAIOSFODNN7EXAMPLE",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
	} {
		recording := record(t, "the key is "+secret+".")
		if strings.Contains(recording, secret) || !strings.Contains(recording, "[masked]") {
			t.Errorf("%s stands in the recording", secret)
		}
		p := player(t, recording)
		ask(p, history("")[:1])
		if got := ask(p, history("the key is "+secret+".")); len(got) != 2 {
			t.Errorf("the same secret does not replay: %v", got)
		}
	}
}

func TestFailuresAreRecordedToo(t *testing.T) {
	var file bytes.Buffer
	busy := &session.ProviderError{Kind: session.RateError, Status: 429, Message: "slow down", Hint: "wait"}
	ask(replay.NewRecorder(&teller{answers: [][]session.Chunk{{session.Done{Stop: session.StopError, Err: busy}}}}, &file), history("")[:1])
	got := ask(player(t, file.String()), history("")[:1])
	done, _ := got[0].(session.Done)
	var p *session.ProviderError
	if !errors.As(done.Err, &p) || *p != *busy {
		t.Errorf("err = %#v, want %#v", done.Err, busy)
	}
}

func TestDamagedRecordingsAreRefused(t *testing.T) {
	whole := record(t, "ok")
	for name, text := range map[string]string{
		"empty":        "",
		"not JSON":     "hello",
		"other format": `{"format":"adze.recording/9"}`,
		"cut":          whole[:len(whole)-20],
		"no end":       `{"format":"adze.recording/1"}{"step":1,"sent":[],"answer":[{"text":"a"}]}`,
		"wrong number": `{"format":"adze.recording/1"}{"step":2,"sent":[],"answer":[{"usage":{}}]}`,
	} {
		if _, err := replay.NewPlayer(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// fullDisk accepts some bytes and then none.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestARecordingThatCannotBeWrittenStopsTheRun(t *testing.T) {
	for _, room := range []int{0, 100} {
		got := ask(replay.NewRecorder(&teller{answers: conversation()}, &fullDisk{room}), history("")[:1])
		done, ok := got[len(got)-1].(session.Done)
		if !ok || done.Err == nil || !strings.Contains(done.Err.Error(), "could not be written") {
			t.Errorf("room %d: last chunk = %#v", room, got[len(got)-1])
		}
	}
}
