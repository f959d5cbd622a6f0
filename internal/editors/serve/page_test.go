package serve_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/tool"
)

const attack = `<img src="http://192.0.2.1/seen" onerror="document.title='PWNED'"><script>document.title="PWNED"</script><a href="javascript:document.title='PWNED'">x</a>`

// TestThePageInABrowser: it shows sessions, sends a prompt, follows the answer as it comes, shows
// what is asked with its change, answers, stops a turn; a second tab sees the same; and what a
// model says is text, wherever it stands.
func TestThePageInABrowser(t *testing.T) {
	b := newBrowser(t)
	goOn, ran := make(chan struct{}), make(chan ask.Answer, 4)
	h := &backend{}
	h.turn = func(ctx context.Context, c *conversation, text string) session.Result {
		if text == "hang" {
			<-ctx.Done()
			return session.Sort(context.Cause(ctx))
		}
		c.who.Observe(session.ReasoningDelta{Message: "m2", Delta: "Thinking " + attack})
		c.who.Observe(session.TextDelta{Message: "m2", Delta: "Half of it " + attack})
		select {
		case <-goOn:
		case <-ctx.Done():
			return session.Sort(context.Cause(ctx))
		}
		c.who.Observe(session.TextDelta{Message: "m2", Delta: " and the rest"})
		c.says(session.Assistant, session.Part{Kind: session.ReasoningPart, Text: "Thinking " + attack}, session.Part{Kind: session.TextPart, Text: "Half of it " + attack + " and the rest"})
		a, _ := c.calls(ctx, "c1", "bash"+attack, `{"command":"rm \u202e`+strings.ReplaceAll(attack, `"`, `\"`)+`"}`, tool.Block{Kind: tool.DiffBlock, Path: "x", Text: "-old " + attack + "\n+new\n"})
		ran <- a
		c.answers("Done " + attack)
		return done()
	}
	s := listen(t, h)
	page := b.open(s.first())
	if at := page.eval(`location.href`); strings.Contains(at, s.token) {
		t.Errorf("the token stays in the address: %s", at)
	}
	page.until(`document.querySelector("#homelist .welcome")`)
	page.send("go")
	page.until(`document.querySelector(".turn > .prose").textContent.startsWith("Half of it <img")`)
	if text := page.eval(`document.body.textContent`); strings.Contains(text, "and the rest<") || page.eval(`document.querySelector(".you .said").textContent`) != "go" {
		t.Errorf("the page: %s", text)
	}
	id := page.eval(`location.hash`)
	second := b.open(s.url + "/" + "#" + s.token)
	second.eval(`location.hash = "` + id + `"`)
	second.until(`document.querySelector(".turn").textContent.includes("Half of it")`)
	second.eval(`location.reload()`) // in the middle of the stream
	second.until(`document.querySelector(".turn").textContent.includes("Half of it")`)
	close(goOn)
	for _, p := range []*tab{page, second} {
		p.until(`document.querySelector("form.ask [value=once]")`)
		if got := p.eval(`[...document.querySelectorAll("form.ask .add, form.ask .del")].map((e) => e.textContent).join("")`); !strings.Contains(got, "old <img") || !strings.Contains(got, "new") {
			t.Errorf("the change is not shown: %q", got)
		}
		if got := p.eval(`document.querySelector("form.ask").textContent`); !strings.Contains(got, `rm \u202e`) {
			t.Errorf("what would be hidden is not written out: %q", got)
		}
	}
	second.eval(`document.querySelector("form.ask [value=once]").click()`)
	for _, p := range []*tab{page, second} {
		p.until(`document.querySelector(".turn:last-child").textContent.includes("Done <img") && document.getElementById("stop").hidden`)
		p.until(`document.querySelector(".call.completed")`)
		p.until(`document.querySelector("#list li").textContent.includes("<b>first</b>")`)
		if got := p.eval(`[document.title.includes("PWNED"), document.querySelectorAll("img, #log a, b, main script").length, JSON.stringify(broken)].join(" ")`); got != "false 0 []" {
			t.Errorf("what a model says did something: %s", got)
		}
	}
	if a := <-ran; a.Choice != ask.Once || len(ran) > 0 {
		t.Errorf("it ran with %v, and %d times more", a, len(ran))
	}
	page.send("hang")
	page.until(`!document.getElementById("stop").hidden`)
	page.eval(`document.getElementById("stop").click()`)
	page.until(`document.querySelector(".turn:last-child .note")?.textContent.startsWith("Stopped: interrupted")`)
	page.eval(`location.reload()`)
	page.until(`document.querySelectorAll(".you").length === 2 && document.body.textContent.includes("Done <img") && document.body.textContent.includes("Stopped: interrupted")`)
	b.quiet()
}

// TestThePageShowsTheAnswerThatCounts: one that broke off goes when it is asked for again, and the
// error of a turn is there also when the page is read anew.
func TestThePageShowsTheAnswerThatCounts(t *testing.T) {
	b := newBrowser(t)
	next := make(chan struct{})
	h := &backend{turn: func(ctx context.Context, c *conversation, text string) session.Result {
		wait := func() {
			select {
			case <-next:
			case <-ctx.Done():
			}
		}
		if text == "fail" {
			return session.Result{Cause: session.CauseProvider, Message: "the server is overheated", Hint: "wait"}
		}
		c.who.Observe(session.TextDelta{Message: "a", Delta: "Half an answer"})
		wait()
		c.who.Observe(session.Retry{Message: "a", Attempt: 1, Of: 3, Cause: "it broke off"})
		c.who.Observe(session.TextDelta{Message: "a", Delta: "All of it"})
		wait()
		return done()
	}}
	s := listen(t, h)
	page := b.open(s.first())
	page.until(`document.querySelector("#homelist .welcome")`)
	page.send("go")
	page.until(`document.body.textContent.includes("Half an answer")`)
	next <- struct{}{}
	page.until(`document.body.textContent.includes("All of it")`)
	if got := page.eval(`document.getElementById("log").textContent`); strings.Contains(got, "Half an answer") {
		t.Errorf("the broken answer is still there: %s", got)
	}
	next <- struct{}{}
	page.until(`document.getElementById("stop").hidden && document.querySelector(".end")`)
	page.send("fail")
	page.until(`document.querySelector(".fail")?.textContent.includes("the server is overheatedwait")`)
	page.send("go")
	page.until(`document.querySelectorAll(".turn").length === 3`)
	if got := page.eval(`document.querySelectorAll(".fail").length`); got != "1" {
		t.Errorf("the error of a turn is gone with the next prompt")
	}
	page.eval(`location.reload()`)
	page.until(`document.querySelector(".fail")?.textContent.includes("the server is overheatedwait")`)
	b.quiet()
}

// TestOtherPagesGetNothing: a page of another origin in the same browser cannot read, write or
// frame anything.
func TestOtherPagesGetNothing(t *testing.T) {
	b := newBrowser(t)
	h := &backend{turn: func(context.Context, *conversation, string) session.Result { return done() }}
	s := listen(t, h)
	id := s.begin()
	evil := listen(t, &backend{}) // another origin, with a page that lets scripts of the test run
	page := b.open(evil.url + "/#x")
	b.call(page.id, "Page.setBypassCSP", map[string]any{"enabled": true})
	page.eval(`location.reload()`)
	page.until(`document.querySelector("h1")`)
	for name, fetches := range map[string]string{
		"reads":             `fetch("` + s.url + `/api/session").then((r) => r.text())`,
		"reads with it":     `fetch("` + s.url + `/api/session", {headers: {Authorization: "Bearer ` + s.token + `"}}).then((r) => r.text())`,
		"writes":            `fetch("` + s.url + `/api/chat", {method: "POST", body: ` + "`" + prompt(id, "x") + "`" + `}).then((r) => r.text())`,
		"writes with it":    `fetch("` + s.url + `/api/chat", {method: "POST", headers: {Authorization: "Bearer ` + s.token + `", "Content-Type": "application/json"}, body: ` + "`" + prompt(id, "x") + "`" + `}).then((r) => r.text())`,
		"writes in silence": `fetch("` + s.url + `/api/chat", {method: "POST", mode: "no-cors", body: ` + "`" + prompt(id, "x") + "`" + `}).then((r) => r.type === "opaque" ? Promise.reject("opaque") : r.text())`,
		"reads the page":    `fetch("` + s.url + `/").then((r) => r.text())`,
	} {
		if got := page.eval(fetches + `.catch((e) => "refused")`); got != "refused" {
			t.Errorf("%s: it got %.200q", name, got)
		}
	}
	if len(h.logs) > 0 {
		t.Errorf("another page's prompt was taken: %v", h.logs)
	}
}

// TestThePageHoldsNothingOfAnybodys: it is the same for all but its number, which is new each time.
func TestThePageHoldsNothingOfAnybodys(t *testing.T) {
	s := listen(t, &backend{})
	seen := map[string]bool{}
	for range 3 {
		r := s.request("GET", "/", "")
		r.Header.Del("Authorization")
		resp := s.do(r)
		policy := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != http.StatusOK || seen[policy] || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "trusted-types") {
			t.Errorf("%d %s", resp.StatusCode, policy)
		}
		seen[policy] = true
		harmless(t, resp)
	}
	names, err := filepath.Glob("page/*")
	if err != nil || len(names) < 8 {
		t.Fatal(names, err)
	}
	sum := 0
	for _, name := range names {
		path := "/" + name
		if name == "page/index.html" {
			path = "/"
		}
		r := s.request("GET", path, "")
		r.Header.Del("Authorization")
		resp := s.do(r)
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %v", path, resp.StatusCode, err)
		}
		text := string(raw)
		sum += len(text)
		if strings.Contains(text, s.token) || strings.Contains(text, "NONCE") || strings.Contains(text, "http://") || strings.Contains(text, "https://") || strings.Contains(text, "@import") || strings.Contains(text, "url(") {
			t.Errorf("%s holds the token, or names another place", name)
		}
		if strings.Contains(text, "HTML(") != (name == "page/html.js") || name != "page/html.js" && strings.Contains(text, "HTML =") {
			t.Errorf("%s makes markup of text; html.js alone may", name)
		}
	}
	if sum > 150_000 {
		t.Errorf("the page has %d bytes; it should have at most 150,000", sum)
	}
	t.Logf("%d bytes in %d files", sum, len(names))
	for _, path := range []string{"/page/", "/page/../serve.go", "/page/index.html", "/page/none.js", "/page/%2e%2e/page.go"} {
		if code, text := s.get("GET", path, ""); code == http.StatusOK {
			t.Errorf("%s gives %.80s", path, text)
		}
	}
}
