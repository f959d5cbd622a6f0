package masking

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/text/redact"
	"adze/session"
)

// TestFragmentsHideWhatLiesAcrossThem stores an answer letter by letter and in pieces, of two
// sessions at once.
func TestFragmentsHideWhatLiesAcrossThem(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE5gH7j", 4)[:36]
	text := "it is " + key + ", and so on."
	for _, size := range []int{1, 5, 20} {
		a := &Log{Mask: func() *redact.Masker { return redact.New() }}
		stored := map[session.ID]string{}
		for at := 0; at < len(text); at += size {
			for _, id := range []session.ID{"a", "b"} {
				raw, _ := json.Marshal(session.Fragment{Message: "m2", Kind: session.TextPart, Text: text[at:min(at+size, len(text))]})
				var f session.Fragment
				if err := json.Unmarshal(a.Entry(id, session.Entry{Type: session.FragmentEntry, Data: raw}).Data, &f); err != nil {
					t.Fatal(err)
				}
				stored[id] += f.Text
			}
		}
		for id, got := range stored {
			if want := strings.Replace(text, key, "[masked]", 1); got != want {
				t.Errorf("%s in pieces of %d: %q, want %q", id, size, got, want)
			}
		}
	}
}

// TestChangedThoughtsLoseTheirSeal: a provider refuses a signature that does not fit its text, and
// the whole request.
func TestChangedThoughtsLoseTheirSeal(t *testing.T) {
	a := &Log{Mask: func() *redact.Masker { return redact.New() }}
	key := "ghp_" + strings.Repeat("aB3dE5gH7j", 4)[:36]
	part := func(text string) session.Part {
		return session.Part{Kind: session.ReasoningPart, Text: text, Opaque: json.RawMessage(`{"signature":"` + key + `"}`)}
	}
	m := session.Message{ID: "m1", Role: session.Assistant, Parts: []session.Part{part("plain"), part("it is " + key)}}
	raw, _ := json.Marshal(m)
	var is session.Message
	if err := json.Unmarshal(a.Entry("s", session.Entry{Type: session.MessageEntry, Data: raw}).Data, &is); err != nil {
		t.Fatal(err)
	}
	if string(is.Parts[0].Opaque) != string(m.Parts[0].Opaque) || is.Parts[1].Opaque != nil || is.Parts[1].Text != "it is [masked]" {
		t.Errorf("%s", a.Entry("s", session.Entry{Type: session.MessageEntry, Data: raw}).Data)
	}
}
