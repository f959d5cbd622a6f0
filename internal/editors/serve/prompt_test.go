package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"adze/internal/editors/uistream"
	"adze/internal/stream/ask"
	"adze/session"
)

const tinyPNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="

// again is the POST that has an answer made again; the messages before are those of the user.
func again(id, answer string, said ...string) string {
	messages := make([]string, len(said))
	for i, text := range said {
		messages[i] = fmt.Sprintf(`{"role":"user","parts":[{"type":"text","text":%q}]}`, text)
	}
	return fmt.Sprintf(`{"id":%q,"trigger":"regenerate-message","messageId":%q,"messages":[%s]}`, id, answer, strings.Join(messages, ","))
}

// told is the conversation as the store has it.
func (s *site) told(id string) []uistream.Message {
	s.t.Helper()
	_, text := s.get("GET", "/api/chat/"+id, "")
	var all []uistream.Message
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return all
}

// TestFilesGoWithAPrompt: a picture is attached as what its bytes are, a text stands behind the
// words, and the conversation shows the picture again. A running turn is not told of a file: that
// waits for its end.
func TestFilesGoWithAPrompt(t *testing.T) {
	heard, goOn := make(chan string, 2), make(chan struct{})
	h := &backend{turn: func(_ context.Context, c *conversation, text string) session.Result {
		heard <- text
		<-goOn
		c.answers("seen")
		return done()
	}}
	s := listen(t, h)
	id := s.begin()
	files := `{"type":"file","mediaType":"text/plain","filename":"a.png","url":"` + tinyPNG + `"},{"type":"file","filename":"b.go","url":"data:,package%20b%0A"}`
	first := s.stream("POST", "/api/chat", `{"id":"`+id+`","messages":[{"role":"user","parts":[{"type":"text","text":"look"},`+files+`]}]}`)
	if got := <-heard; got != "look\n\nb.go (as it was sent along):\n```\npackage b\n```\n" {
		t.Errorf("heard %q", got)
	}
	h.steers(id)
	alone := s.stream("POST", "/api/chat", `{"id":"`+id+`","messages":[{"role":"user","parts":[{"type":"file","url":"`+tinyPNG+`"}]}]}`)
	close(goOn)
	if a, b := first.rest(), alone.rest(); a != "seen" || b != "seen" || <-heard != "" {
		t.Errorf("answered %q, %q", a, b)
	}
	all := s.told(id)
	if len(all) != 4 || len(all[0].Parts) != 2 || all[0].Parts[1].Type != "file" || all[0].Parts[1].MediaType != "image/png" || all[0].Parts[1].Filename != "a.png" || all[0].Parts[1].URL != tinyPNG {
		t.Errorf("the conversation has %+v", all)
	}
}

// steers has every conversation of a session take remarks.
func (h *backend) steers(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.open {
		if string(c.id) == id {
			c.mu.Lock()
			c.steers = true
			c.mu.Unlock()
		}
	}
}

// TestTheNewestAnswerIsMadeAgain: by its own id, that of its prompt or none; no other one is, and
// none while a turn runs, or by who has not seen what was said since.
func TestTheNewestAnswerIsMadeAgain(t *testing.T) {
	n, hangs := 0, make(chan struct{})
	h := &backend{turn: func(ctx context.Context, c *conversation, text string) session.Result {
		if text == "hang" {
			close(hangs)
			<-ctx.Done()
			return session.Result{Cause: session.CauseInterrupted}
		}
		n++
		c.answers(fmt.Sprintf("%s %d", text, n))
		return done()
	}}
	s := listen(t, h)
	id := s.begin()
	for _, text := range []string{"one", "two"} {
		s.stream("POST", "/api/chat", prompt(id, text)).rest()
	}
	old := s.told(id)
	for name, c := range map[string]struct{ body, says string }{
		"an older answer":          {again(id, old[1].ID, "one"), "has gone on"},
		"an older prompt":          {again(id, old[0].ID, "one"), "has gone on"},
		"who has not seen the new": {again(id, "", "one"), "has gone on"},
	} {
		if code, text := s.get("POST", "/api/chat", c.body); code != http.StatusConflict || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	for i, answer := range []string{old[3].ID, "", "unknown to us"} {
		if got, want := s.stream("POST", "/api/chat", again(id, answer, "one", "two")).rest(), fmt.Sprintf("two %d", 3+i); got != want {
			t.Errorf("answered %q, want %q", got, want)
		}
	}
	if got := s.stream("POST", "/api/chat", again(id, "", "two")).rest(); got != "two 6" { // by who sends the newest message alone
		t.Errorf("answered %q", got)
	}
	if got := s.stream("POST", "/api/chat", again(id, "", "one", "another two")).rest(); got != "another two 7" { // the user has changed it
		t.Errorf("answered %q", got)
	}
	all := s.told(id)
	if len(all) != 4 || all[2].Parts[0].Text != "another two" || all[3].Parts[len(all[3].Parts)-1].Text != "another two 7" {
		t.Errorf("the conversation has %+v", all)
	}
	s.stream("POST", "/api/chat", prompt(id, "three")).rest()
	if code, text := s.get("POST", "/api/chat", again(id, "", "one", "two")); code != http.StatusConflict || !strings.Contains(text, "has gone on") {
		t.Errorf("behind the back of another: %d %s", code, text)
	}
	s.stream("POST", "/api/chat", prompt(id, "hang"))
	<-hangs
	if code, text := s.get("POST", "/api/chat", again(id, "", "hang")); code != http.StatusConflict || !strings.Contains(text, "a turn runs") {
		t.Errorf("of a turn that runs: %d %s", code, text)
	}
}

// TestARemarkThatWasTakenBack: what was said before it in its turn stays.
func TestARemarkThatWasTakenBack(t *testing.T) {
	h := &backend{}
	s := listen(t, h)
	id := s.begin()
	say := func(m session.Message, text string) {
		m.Parts = []session.Part{{Kind: session.TextPart, Text: text}}
		h.store(session.ID(id), session.MessageEntry, m)
	}
	say(session.Message{ID: "m1", Role: session.User}, "go")
	say(session.Message{ID: "m2", Role: session.Assistant}, "going")
	say(session.Message{ID: "m3", Role: session.User, Meanwhile: true}, "faster")
	say(session.Message{ID: "m4", Role: session.Assistant}, "wrong")
	h.store(session.ID(id), session.EndEntry, done())
	h.store(session.ID(id), session.RewindEntry, session.Rewound{MessageID: "m3"})
	say(session.Message{ID: "m5", Role: session.User}, "slower")
	say(session.Message{ID: "m6", Role: session.Assistant}, "right")
	h.store(session.ID(id), session.EndEntry, done())
	var said []string
	for _, m := range s.told(id) {
		for _, p := range m.Parts {
			if p.Text != "" {
				said = append(said, p.Text)
			}
		}
	}
	if got := strings.Join(said, " "); got != "go going slower right" {
		t.Errorf("the conversation says %q", got)
	}
}

// TestAnAnswerOfThePageIsKnown as one.
func TestAnAnswerOfThePageIsKnown(t *testing.T) {
	answers := make(chan ask.Answer, 1)
	s := listen(t, &backend{turn: func(ctx context.Context, c *conversation, _ string) session.Result {
		a, _ := c.calls(ctx, "c1", "bash", `{"command":"make"}`)
		answers <- a
		return done()
	}})
	id := s.begin()
	next := s.watcher("session=" + id)
	s.act(id, "say", map[string]any{"text": "go"})
	s.act(id, "answer", map[string]any{"question": questionIn(untilHTML(next, "data-question")), "choice": "once"})
	if a := <-answers; a.By != "page" {
		t.Errorf("the answer is %+v", a)
	}
}
