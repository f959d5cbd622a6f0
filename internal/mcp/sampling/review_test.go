package sampling

import (
	"context"
	"strings"
	"testing"

	"adze/internal/mcp"
	"adze/session"
)

// The user sees what goes back as it goes back, and what they keep is told to nobody.
func TestThePersonSeesTheAnswerBeforeItGoesBack(t *testing.T) {
	r := newRig(t, mcp.Ask)
	r.answer = func(context.Context, session.Request) (session.Message, error) {
		return session.Message{Parts: []session.Part{{Kind: session.TextPart, Text: "SECRET \x1b[31mblue\u202e\U000e0041. END more"}}}, nil
	}
	ask := params(`,"stopSequences":["END"]`, says("user", "hi"))
	r.answers = []string{Once, No}
	if o := r.wants(t, ask, `"code":-1`, "the person said no"); strings.Contains(o.Output, "blue") || !strings.Contains(string(o.Metadata), "did not get what acme/m answered") {
		t.Errorf("the server got %q, the call tells %s", o.Output, o.Metadata)
	}
	r.answers = []string{Once} // and then they close it
	if o := r.wants(t, ask, `"code":-1`, "the person did not answer"); strings.Contains(o.Output, "blue") {
		t.Errorf("the server got %q", o.Output)
	}
	r.answers = []string{Once, Session}
	const sent = "*** [31mblue. "
	r.wants(t, ask, `"text":"`+sent+`"`)
	r.wants(t, ask, `"text":"`+sent+`"`) // agreed to for the session, with nobody asked
	shown, asked, _ := r.lines()
	if len(shown) != 6 || len(asked) != 4 {
		t.Fatalf("%d questions, %d requests", len(shown), len(asked))
	}
	for _, i := range []int{1, 3, 5} {
		if q := shown[i]; q.Server != "fake" || !strings.HasSuffix(q.Text, "\n\n"+sent) || !strings.Contains(q.Text, "acme/m") || len(q.Choices) != 3 {
			t.Errorf("the person is shown %+v", q)
		}
	}
}

// Answers that are kept count as a no: the server is not let ask, and pay, on and on.
func TestAnswersKeptCountAsNo(t *testing.T) {
	r := newRig(t, mcp.Ask)
	for range maxNo {
		r.answers = []string{Once, No}
		r.wants(t, params("", says("user", "hi")), "said no")
	}
	r.answers = []string{Once, Once}
	r.wants(t, params("", says("user", "hi")), "said no 3 times")
	if shown, asked, _ := r.lines(); len(shown) != 2*maxNo || len(asked) != maxNo {
		t.Errorf("%d questions, %d requests", len(shown), len(asked))
	}
}
