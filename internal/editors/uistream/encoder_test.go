package uistream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/editors/uistream"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// TestALogAndWhatComesBehindItMayOverlap: whoever comes in the middle of an answer is told the log,
// what is under way, and then all that comes: at every moment, and whatever was told twice, the
// text and the outcomes are the same.
func TestALogAndWhatComesBehindItMayOverlap(t *testing.T) {
	live := []session.Event{said("hi"), session.ReasoningDelta{Message: "m2", Delta: "Hm"}, session.TextDelta{Message: "m2", Delta: "Look"},
		session.TextDelta{Message: "m2", Delta: ". "}, answers("m2", "reasoning: Hm", "text: Look. ", `read c1: {"path":"a"}`, `read c2: {"path":"b"}`),
		starts("c1", "read"), ends("c1", "read", tool.Completed, "", "1"), starts("c2", "read"), ends("c2", "read", tool.Failed, "not_found", "none"),
		session.TextDelta{Message: "m4", Delta: "Do"}, session.TextDelta{Message: "m4", Delta: "ne"}, answers("m4", "text: Done"), turnEnds(session.CauseDone, "")}
	want := folded(t, live)
	for at := range live {
		var log, under []session.Event // what is stored at that moment, and the pieces of the message that is not
		for _, e := range live[:at+1] {
			switch e.(type) {
			case session.TextDelta, session.ReasoningDelta:
				under = append(under, e)
			case session.MessageDone:
				under = nil
				log = append(log, e)
			default:
				log = append(log, e)
			}
		}
		for _, again := range []int{0, 1, 3, at} { // so many that came while the log was read
			told := append(append([]session.Event{}, log...), under...)
			for _, e := range live[max(0, at+1-again) : at+1] {
				switch e.(type) {
				case session.TextDelta, session.ReasoningDelta: // they are in what is under way, or in the log whole
				default:
					told = append(told, e)
				}
			}
			if got := folded(t, append(told, live[at+1:]...)); got != want {
				t.Errorf("behind event %d, %d of them twice:\n%s\nwant\n%s", at, again, got, want)
			}
		}
	}
}

func folded(t *testing.T, events []session.Event) string {
	t.Helper()
	var m uistream.Message
	for _, p := range all(events...)(encoder()) {
		m.Fold(p)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestNoSecretIsTold: not in pieces, not in arguments, results, questions or notices.
func TestNoSecretIsTold(t *testing.T) {
	const key = "tr0ub4dor-and-three"
	masker := redact.New(key)
	mask := func() *redact.Masker { return masker }
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7))
		text := "the key is " + key + ", keep it"
		events := []session.Event{said("hi")}
		arguments := fmt.Sprintf(`{"command":"echo %s https://u:hunter2pass@h/"}`, key)
		events = append(events, session.CallForming{Message: "m2", Call: "c1", Name: "bash", Bytes: len(arguments)})
		for rest := text; rest != ""; {
			n := 1 + r.IntN(min(6, len(rest)))
			events = append(events, session.TextDelta{Message: "m2", Delta: rest[:n]})
			rest = rest[n:]
		}
		events = append(events, answers("m2", "text: "+text, fmt.Sprintf(`bash c1: {"command":"echo %s https://u:hunter2pass@h/"}`, key)), starts("c1", "bash"),
			session.Notice{Text: key}, ends("c1", "bash", tool.Failed, "exit", key), turnEnds(session.CauseProvider, key))
		e := uistream.New(uistream.Options{Mask: mask})
		var b []byte
		for _, ev := range events {
			for _, p := range e.Take(ev) {
				b = uistream.Append(b, p, mask)
			}
		}
		if strings.Contains(string(b), "tr0ub4") || strings.Contains(string(b), "hunter2pass") || strings.Count(string(b), "[masked]") < 4 {
			t.Fatalf("seed %d: %s", seed, b)
		}
	}
}

// TestInputIsWhatIsShown: an approval is compared with it.
func TestInputIsWhatIsShown(t *testing.T) {
	e := encoder()
	all(said("hi"), answers("m2", `bash c1: { "command" : "touch x" }`))(e)
	if e.Input("c1") != nil {
		t.Error("a call that is not shown has an input")
	}
	e.Ask(question())
	if got := string(e.Input("c1")); got != `{"command":"touch x"}` {
		t.Errorf("input %s", got)
	}
}

// The message of an answer has the claims and the evidence, so that a page can mark them.
func TestClaimsStayInTheMessage(t *testing.T) {
	end := turnEnds(session.CauseDone, "")
	end.Result.Claims = []session.Claim{{Kind: session.CommandClaim, Quote: "I ran make.", Text: "make was run; no call did"}}
	end.Result.Evidence = []session.Evidence{{Kind: session.TestsClaim, Quote: "all tests pass", Call: "c1", Text: "go test ./..."}}
	got := folded(t, []session.Event{said("hi"), answers("m2", "text: I ran make. Now all tests pass."), end})
	for _, want := range []string{`"type":"data-claims"`, `"quote":"I ran make."`, `"quote":"all tests pass","call":"c1","text":"go test ./..."`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := folded(t, []session.Event{said("hi"), answers("m2", "text: Done."), turnEnds(session.CauseDone, "")}); strings.Contains(got, "data-claims") {
		t.Errorf("nothing is known, and told: %s", got)
	}
}
