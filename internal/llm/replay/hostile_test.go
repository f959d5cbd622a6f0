package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/llm/replay"
	"adze/session"
	"adze/tool"
)

// taped records one answer to a prompt.
func taped(t *testing.T, secrets []string, messages []session.Message, chunks ...session.Chunk) string {
	t.Helper()
	var file bytes.Buffer
	ask(replay.NewRecorder(&teller{answers: [][]session.Chunk{chunks}}, &file, secrets...), messages)
	return file.String()
}

// A key stands in no recording, wherever the model, a tool, a user or a server said it, whole or in
// pieces.
func TestNoKeyStandsInARecording(t *testing.T) {
	const own = "0123456789abcdef0123456789abcdef" // of no known shape
	done := session.Done{Stop: session.StopEnd}
	said := func(parts ...string) (out []session.Chunk) {
		for _, p := range parts {
			out = append(out, session.Text{Delta: p})
		}
		return append(out, done)
	}
	fails := func(message string) []session.Chunk {
		return []session.Chunk{session.Done{Stop: session.StopError, Err: &session.ProviderError{Kind: session.NetworkError, Message: message, Hint: message}}}
	}
	for name, c := range map[string]struct {
		secret string
		sent   string
		chunks []session.Chunk
	}{
		"the person's prompt":           {own, "my key is " + own, said("ok")},
		"words":                         {own, "", said("it is " + own + ".")},
		"words in pieces":               {own, "", said("it is 01", own[2:9], own[9:], ".")},
		"letters":                       {own, "", said(strings.Split(own, "")...)},
		"a shape in pieces":             {"sk-ant-api03-abcdefghijklmnop", "", said("sk-a", "nt-api03-", "abcdefghijk", "lmnop", " that")},
		"thinking in pieces":            {own, "", []session.Chunk{session.Reasoning{Delta: own[:5]}, session.Reasoning{Delta: own[5:]}, done}},
		"what is sealed":                {own, "", []session.Chunk{session.Reasoning{Opaque: []byte(`{"text":"` + own + `"}`)}, done}},
		"arguments":                     {own, "", []session.Chunk{session.Call{RawCall: tool.RawCall{ID: "c", Name: own, Arguments: `{"k":"` + own + `"}`, Opaque: []byte(`"` + own + `"`)}}, done}},
		"a notice":                      {own, "", []session.Chunk{session.Done{Stop: session.StopEnd, Notice: own}}},
		"an error":                      {own, "", fails("wrong key " + own)},
		"an address in an error":        {"AbC-dEf-123", "", fails(`Get "https://a.test/v1?alt=sse&key=AbC-dEf-123": refused`)},
		"a token in an address":         {"tok.tok.tok", "see https://a.test/?access_token=tok.tok.tok&x=1", said("ok")},
		"a password in an address":      {"hunter2!", "git clone https://me:hunter2!@a.test/x", said("ok")},
		"a bearer in a header":          {"abc.def-ghi", "curl -H 'Authorization: Bearer abc.def-ghi' a.test", said("ok")},
		"a key in a header":             {"opaque-key-1", "x-api-key: opaque-key-1", said("ok")},
		"a key in a header, as JSON":    {"opaque-key-1", `{"X-Goog-Api-Key": "opaque-key-1"}`, said("ok")},
		"a header that was spelt small": {"abcdefgh", "authorization=bearer abcdefgh", said("ok")},
	} {
		t.Run(name, func(t *testing.T) {
			tape := taped(t, []string{own, "short", ""}, []session.Message{prompt(c.sent)}, c.chunks...)
			bare := strings.NewReplacer(`"text": "`, "", `"`, "", "\n", "", " ", "", ",", "", "{", "", "}", "").Replace(tape)
			if strings.Contains(tape, c.secret) || strings.Contains(bare, c.secret) || strings.Count(tape, "[masked]") == 0 {
				t.Errorf("the recording is\n%s", tape)
			}
			// What is masked replays, with the secret and with the mask in its place.
			for _, prompts := range []string{c.sent, strings.ReplaceAll(c.sent, c.secret, "[masked]")} {
				p, err := replay.NewPlayer(strings.NewReader(tape), own)
				if err != nil {
					t.Fatal(err)
				}
				if got := ask(p, []session.Message{prompt(prompts)}); len(got) != len(c.chunks) {
					t.Errorf("%q became %v", prompts, got)
				}
			}
		})
	}
}

// What is no secret stays as it is.
func TestOtherTextIsNotMasked(t *testing.T) {
	for _, text := range []string{
		"the key=value pairs", "sk-short", "https://a.test/?q=keys&page=2", "Authorization: none", "task-0123456789abcdefghij"[0:9], "short",
		"https://a.test:8080/x@y", "authorize bearer",
	} {
		if tape := taped(t, []string{"short"}, []session.Message{prompt(text)}, session.Done{Stop: session.StopEnd}); strings.Contains(tape, "masked") {
			t.Errorf("%q became\n%s", text, tape)
		}
	}
}

// A failure is served as it was: what was worth another try is, and what was stopped by the user
// is not.
func TestFailuresAreServedAsTheyWere(t *testing.T) {
	cut := &session.ProviderError{Kind: session.BadResponse, Message: "ended", Cut: true}
	for _, c := range []struct {
		err   error
		again bool
	}{{cut, true}, {context.Canceled, false}, {context.DeadlineExceeded, false}, {fmt.Errorf("odd"), true}} {
		tape := taped(t, nil, history("")[:1], session.Text{Delta: "half"}, session.Done{Stop: session.StopError, Err: c.err})
		got := ask(player(t, tape), history("")[:1])
		failure, ok := got[1].(session.Done).Err.(*session.ProviderError)
		if !ok || failure.Temporary() != c.again {
			t.Errorf("%v became %#v", c.err, got[1])
		}
	}
}

// A consumer that leaves in mid-answer leaves no hole.
func TestAnAnswerThatNobodyHeardToItsEnd(t *testing.T) {
	var file bytes.Buffer
	r := replay.NewRecorder(&teller{answers: conversation()}, &file)
	for range r.Stream(t.Context(), session.Request{Model: "m", Messages: history("")[:1]}) {
		break
	}
	ask(r, history("ok"))
	p := player(t, file.String())
	if got := ask(p, history("")[:1]); got[len(got)-1].(session.Done).Err == nil {
		t.Errorf("got %v", got)
	}
	if diff := cmp.Diff(conversation()[1], ask(p, history("ok"))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A conversation that was taken back and asked otherwise is compared from where the two part.
func TestAConversationThatWasTakenBack(t *testing.T) {
	var file bytes.Buffer
	other := prompt("try this")
	other.ID = "m9"
	r := replay.NewRecorder(&teller{answers: conversation()}, &file)
	ask(r, history("ok")[:1])
	ask(r, []session.Message{other})
	p := player(t, file.String())
	ask(p, history("ok")[:1])
	wrong := other
	wrong.Parts = prompt("try that").Parts
	if err := failure(t, ask(p, []session.Message{wrong})); !strings.Contains(err.Message, "step 2") || !strings.Contains(err.Message, "that") {
		t.Errorf("message = %q", err.Message)
	}
}

// echoer answers with what it was asked first, for subagents beside each other.
type echoer struct{}

func (echoer) Name() string { return "echo" }

func (echoer) Stream(_ context.Context, q session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		_ = yield(session.Text{Delta: q.Agent + ":" + q.Messages[0].Text()}) && yield(session.Done{Stop: session.StopEnd})
	}
}

func TestSubagentsBesideEachOther(t *testing.T) {
	var file bytes.Buffer
	r := replay.NewRecorder(echoer{}, &file)
	each := func(p session.Provider) {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				q := session.Request{Model: "m", Agent: "explore", Messages: []session.Message{prompt(fmt.Sprint("look at ", i))}}
				want := "explore:look at " + fmt.Sprint(i)
				for c := range p.Stream(t.Context(), q) {
					if text, ok := c.(session.Text); ok && text.Delta != want {
						t.Errorf("%s got %s", want, text.Delta)
					} else if done, ok := c.(session.Done); ok && done.Err != nil {
						t.Error(done.Err)
					}
				}
			})
		}
		group.Wait()
	}
	each(r)
	p := player(t, file.String())
	each(p)
	for c := range p.Stream(t.Context(), session.Request{Agent: "explore", Messages: []session.Message{prompt("look elsewhere")}}) {
		if done := c.(session.Done); done.Err == nil || !strings.Contains(done.Err.Error(), "look elsewhere") {
			t.Errorf("got %v", done.Err)
		}
	}
}

// Whatever was cut off a recording is found when it is read, or when the run asks for it; nothing
// is served twice.
func TestARecordingCutAnywhere(t *testing.T) {
	whole := record(t, "ok")
	for n := range len(whole) {
		p, err := replay.NewPlayer(strings.NewReader(whole[:n]))
		if err != nil {
			continue
		}
		one := ask(p, history("ok")[:1])
		two := ask(p, history("ok"))
		if one[len(one)-1].(session.Done).Err == nil && two[len(two)-1].(session.Done).Err == nil && n < len(whole)-1 {
			t.Fatalf("cut at byte %d of %d, it serves the whole run", n, len(whole))
		}
	}
}
