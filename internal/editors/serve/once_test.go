package serve_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"adze/internal/editors/serve"
	"adze/session"
)

// TestAMessageIsTakenOnce by its key, also when it is sent again before the first has an outcome. One
// that was refused was not taken.
func TestAMessageIsTakenOnce(t *testing.T) {
	turns := make(chan string, 10)
	s := listen(t, &backend{turn: func(_ context.Context, _ *conversation, text string) session.Result { turns <- text; return done() }})
	id := s.begin()
	say := func(key, text string) string {
		code, body := s.get("POST", "/api/page/"+id+"/say", fmt.Sprintf(`{"text":%q,"queue":true,"once":%q}`, text, key))
		return fmt.Sprint(code, " ", strings.TrimSpace(body))
	}
	if got := say("a", ""); !strings.HasPrefix(got, "400") {
		t.Errorf("a message that says nothing: %s", got)
	}
	if got := say(strings.Repeat("k", 101), "long"); !strings.HasPrefix(got, "400") {
		t.Errorf("a key that is too long: %s", got)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if got := say("a", "one"); got != `200 {"text":"queued"}` {
				t.Errorf("it is answered by %s", got)
			}
		})
	}
	all.Wait()
	say("b", "two")
	say("a", "one")
	say("b", "two")
	say("", "three")
	for _, want := range []string{"one", "two", "three"} {
		if got := <-turns; got != want {
			t.Errorf("a turn of %q, not of %q", got, want)
		}
	}
}

// TestAnotherProcessTakesAMessageOnce by the key that it has on the page.
func TestAnotherProcessTakesAMessageOnce(t *testing.T) {
	e := beside(t)
	s := listen(t, e.h, func(s *serve.Server) { s.Sockets = e.folder })
	for _, key := range []string{"a", "a", "b"} {
		s.act("x", "say", map[string]any{"text": "and " + key, "once": key})
	}
	s.act("x", "say", map[string]any{"text": "the end"})
	for _, want := range []string{"and a", "and b", "the end"} {
		if got := <-e.acts; !strings.Contains(got, `"text":"`+want+`"`) {
			t.Errorf("the owner got %s, not %s", got, want)
		}
	}
}

// TestAMessageWhoseReplyWasLost returns to the prompt, and is not taken again from there.
func TestAMessageWhoseReplyWasLost(t *testing.T) {
	b := newBrowser(t)
	h := sceneBackend()
	var mu sync.Mutex
	var said []string
	turn := h.turn
	h.turn = func(ctx context.Context, c *conversation, text string) session.Result {
		mu.Lock()
		said = append(said, text)
		mu.Unlock()
		return turn(ctx, c, text)
	}
	s := listen(t, h)
	id := s.say(h, "Mend the race", "There is a race")
	page := b.open(s.first())
	page.visit(id, ".end", "")
	page.eval(`(() => { const real = fetch; let lost = 0;
		globalThis.fetch = async (to, o) => { const a = await real(to, o); if (/\/say$/.test(to) && !lost++) throw new TypeError("the reply was lost"); return a; } })()`)
	page.send("There is a race, too")
	page.until(`document.getElementById("trouble").textContent === "the reply was lost" && ` + wordsOf + ` === "There is a race, too"`)
	page.key("Enter")
	page.until(wordsOf + ` === ""`)
	page.send("There is a race, three")
	page.until(`document.querySelectorAll(".end").length === 3`)
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(said, "; "); got != "There is a race; There is a race, too; There is a race, three" {
		t.Errorf("the turns: %s", got)
	}
}
