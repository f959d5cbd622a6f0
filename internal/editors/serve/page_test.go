package serve_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
	"adze/tui/permission"
)

const attack = `<img src="http://192.0.2.1/seen" onerror="document.title='PWNED'"><script>document.title="PWNED"</script><a href="javascript:document.title='PWNED'">x</a>`

// TestThePageInABrowser: it shows sessions, sends a prompt, follows the answer as it comes, shows
// what is asked with its change, answers, stops a turn; a second tab sees the same; and what a
// model says is text, wherever it stands.
func TestThePageInABrowser(t *testing.T) {
	b := newBrowser(t)
	goOn, ran := make(chan struct{}), make(chan permission.Answer, 4)
	h := &house{}
	h.turn = func(ctx context.Context, c *conversation, text string) session.Result {
		if text == "hang" {
			<-ctx.Done()
			return session.Sort(context.Cause(ctx))
		}
		c.who.Observe(session.ReasoningDelta{Message: "m2", Delta: "Thinking " + attack})
		c.who.Observe(session.TextDelta{Message: "m2", Delta: "Half of it " + attack})
		<-goOn
		c.who.Observe(session.TextDelta{Message: "m2", Delta: " and the rest"})
		c.says(session.Assistant, session.Part{Kind: session.ReasoningPart, Text: "Thinking " + attack}, session.Part{Kind: session.TextPart, Text: "Half of it " + attack + " and the rest"})
		a, _ := c.calls(ctx, "c1", "bash"+attack, `{"command":"rm \u202e`+strings.ReplaceAll(attack, `"`, `\"`)+`"}`, tool.Block{Kind: tool.DiffBlock, Path: "x", Text: "-old " + attack + "\n+new\n"})
		ran <- a
		c.answers("Done " + attack)
		return done()
	}
	s := listen(t, h)
	page := b.open(s.url + "/#" + s.token)
	if at := page.eval(`location.href`); strings.Contains(at, s.token) {
		t.Errorf("the token stays in the address: %s", at)
	}
	page.eval(`document.getElementById("new").click()`)
	page.until(`!document.getElementById("words").disabled`)
	page.eval(`(() => { const w = document.getElementById("words"); w.value = "go"; w.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})) })()`)
	page.until(`document.querySelector("article.assistant .text:not(.thought)").textContent.startsWith("Half of it <img")`)
	if text := page.eval(`document.body.textContent`); strings.Contains(text, "and the rest<") || page.eval(`document.querySelector("article.user .text").textContent`) != "go" {
		t.Errorf("the page: %s", text)
	}
	second := b.open(s.url + "/#" + s.token)
	second.until(`document.querySelector("article.assistant").textContent.includes("Half of it")`)
	close(goOn)
	for _, p := range []*tab{page, second} {
		p.until(`document.querySelector(".question .allow")`)
		if got := p.eval(`[...document.querySelectorAll(".question .add, .question .del")].map((e) => e.textContent).join("")`); !strings.Contains(got, "-old <img") || !strings.Contains(got, "+new") {
			t.Errorf("the change is not shown: %q", got)
		}
		if got := p.eval(`document.querySelector(".question").textContent`); !strings.Contains(got, `rm \u{202e}`) && !strings.Contains(got, `rm \u202e`) {
			t.Errorf("what would be hidden is not written out: %q", got)
		}
	}
	shot(page)
	second.eval(`document.querySelector(".question .allow").click()`)
	for _, p := range []*tab{page, second} {
		p.until(`document.querySelector("article.assistant:last-child").textContent.includes("Done <img") && document.getElementById("state").textContent === "ready"`)
		p.until(`document.querySelector(".call").textContent.includes("ran")`)
		p.until(`document.querySelector("nav li").textContent.includes("<b>first</b>")`)
		if got := p.eval(`[document.title, document.querySelectorAll("img, a, b, main script").length, JSON.stringify(broken)].join(" ")`); got != "adze 0 []" {
			t.Errorf("what a model says did something: %s", got)
		}
	}
	if a := <-ran; a.Choice != permission.Once || len(ran) > 0 {
		t.Errorf("it ran with %v, and %d times more", a, len(ran))
	}
	page.eval(`(() => { document.getElementById("words").value = "hang"; document.getElementById("say").requestSubmit() })()`)
	page.until(`!document.getElementById("stop").hidden`)
	const looked = `performance.getEntriesByType("resource").filter((e) => /chat.[^/]+$/.test(e.name)).length`
	before := page.eval(looked)
	page.eval(`document.getElementById("stop").click()`)
	page.until(`document.body.textContent.includes("stopped: interrupted")`)
	page.until(looked + ` > ` + before) // it has asked for the conversation once more
	if got := page.eval(`document.body.textContent`); !strings.Contains(got, "stopped: interrupted") {
		t.Errorf("how the turn ended is gone from the page: %s", got)
	}
	page.eval(`location.reload()`)
	page.until(`document.querySelectorAll("article.user").length === 2 && document.body.textContent.includes("Done <img") && document.body.textContent.includes("stopped: interrupted")`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.asked) > 0 {
		t.Errorf("the browser asked others for %q", b.asked)
	}
}

// TestThePageShowsTheAnswerThatCounts: one that broke off goes when it is asked for again, and the
// error of a turn is there also when the page is read anew.
func TestThePageShowsTheAnswerThatCounts(t *testing.T) {
	b := newBrowser(t)
	next := make(chan struct{})
	h := &house{turn: func(_ context.Context, c *conversation, text string) session.Result {
		if text == "fail" {
			return session.Result{Cause: session.CauseProvider, Message: "the server is overheated", Hint: "wait"}
		}
		c.who.Observe(session.TextDelta{Message: "a", Delta: "Half an answer"})
		<-next
		c.who.Observe(session.Retry{Message: "a", Attempt: 1, Of: 3, Cause: "it broke off"})
		c.who.Observe(session.TextDelta{Message: "a", Delta: "All of it"})
		<-next
		return done()
	}}
	s := listen(t, h)
	id := s.begin()
	page := b.open(s.url + "/#" + s.token)
	page.until(`!document.getElementById("words").disabled`)
	say := func(text string) {
		page.eval(`(() => { document.getElementById("words").value = "` + text + `"; document.getElementById("say").requestSubmit() })()`)
	}
	_ = id
	say("go")
	page.until(`document.body.textContent.includes("Half an answer")`)
	next <- struct{}{}
	page.until(`document.body.textContent.includes("All of it")`)
	if got := page.eval(`document.getElementById("log").textContent`); strings.Contains(got, "Half an answer") {
		t.Errorf("the broken answer is still there: %s", got)
	}
	next <- struct{}{}
	page.until(`document.getElementById("state").textContent === "ready"`)
	say("fail")
	page.until(`document.querySelector(".bad[role=alert]")?.textContent === "the server is overheated (wait)"`)
	page.eval(`location.reload()`)
	page.until(`document.querySelector(".bad[role=alert]")?.textContent === "the server is overheated (wait)"`)
}

// shot writes what the page looks like to $ADZE_SHOT, for who wants to see it.
func shot(p *tab) {
	path := os.Getenv("ADZE_SHOT")
	if path == "" {
		return
	}
	var got struct{ Data string }
	if json.Unmarshal(p.b.call(p.id, "Page.captureScreenshot", map[string]any{}), &got) == nil {
		raw, _ := base64.StdEncoding.DecodeString(got.Data)
		_ = os.WriteFile(path, raw, 0o600)
	}
}

// TestOtherPagesGetNothing: a page of another origin in the same browser cannot read, write or
// frame anything.
func TestOtherPagesGetNothing(t *testing.T) {
	b := newBrowser(t)
	h := &house{turn: func(context.Context, *conversation, string) session.Result { return done() }}
	s := listen(t, h)
	id := s.begin()
	evil := listen(t, &house{}) // another origin, with a page that lets scripts of the test run
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
	s := listen(t, &house{})
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
	if _, text := s.get("GET", "/", ""); strings.Contains(text, s.token) || strings.Contains(text, "NONCE") || strings.Contains(text, "http://") || strings.Contains(text, "https://") || strings.Contains(text, "innerHTML") {
		t.Error("the page holds the token, or names another place")
	}
}
