package run_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/internal/live"
)

// browser is a page of adze serve.
type browser struct {
	t           *testing.T
	base, token string
}

func (b *browser) send(method, path, body string) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode >= 300 {
		text, _ := bufio.NewReader(resp.Body).ReadString('\n')
		b.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return resp
}

// watch reads what the page is told of a session; the function that it returns reads to a line that
// matches, and returns its last group.
func (b *browser) watch(id string) func(pattern string) string {
	in := bufio.NewScanner(b.send("GET", "/api/page/watch?session="+id, "").Body)
	in.Buffer(nil, 64<<20)
	return func(pattern string) string {
		b.t.Helper()
		for in.Scan() {
			if m := regexp.MustCompile(pattern).FindStringSubmatch(in.Text()); m != nil {
				return m[len(m)-1]
			}
		}
		b.t.Fatalf("the stream ended before %s: %v", pattern, in.Err())
		return ""
	}
}

// TestThePageSteersASessionInTheBackground: its question is answered, and its turn
// is stopped.
func TestThePageSteersASessionInTheBackground(t *testing.T) {
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", "--sandbox=off", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"+
		"-- 2 --\nexpect write completed: made\ncall bash: {\"command\":\"sleep 600\"}\n"), "make it")
	w.until(`{"type":"question"`) // it is stored now
	_, address := u.serving(u.script("-- 1 --\ntext: never\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	until := b.watch(id)
	name := until(`data-question=\\"([^\\]+)\\"`)
	b.send("POST", "/api/page/"+id+"/answer", fmt.Sprintf(`{"question":%q,"choice":"once"}`, name))
	if told := w.until(`"by":"page (process`) + w.until("sleep 600"); strings.Contains(told, "answer q1") {
		t.Errorf("who answered is told twice: %s", told)
	}
	u.run("audit", "show", id).wants(0, "allowed by (person) from page (process ")
	if text, err := os.ReadFile(filepath.Join(u.dir, "made.txt")); err != nil || string(text) != "x" {
		t.Errorf("made.txt: %q %v", text, err)
	}
	b.send("POST", "/api/page/"+id+"/stop", `{}`)
	w.until(`"type":"turn"`)
	until(`"state":"idle"`)
}

// TestAClientSteersASessionOfAdzeServe: it prompts, and stops what runs.
func TestAClientSteersASessionOfAdzeServe(t *testing.T) {
	u := newUser(t)
	_, address := u.serving("--sandbox=off", "--allow", "execute(sleep **)", u.script("-- 1 --\ntext: first\n-- 2 --\ncall bash: {\"command\":\"sleep 600\"}\n-- 3 --\ntext: never\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	id := postTo(t, b.base+"/api/session", b.token, "{}")["id"]
	w := u.attach(id)
	if !w.Hello.Window {
		t.Errorf("hello is %+v", w.Hello)
	}
	w.says(live.Input{Type: "prompt", Text: "one"})
	w.until(`"text":"first"`)
	w.until(`"type":"turn"`)
	until := b.watch(id)
	w.says(live.Input{Type: "prompt", Text: "two"})
	w.until(`"type":"tool_start"`)
	until(`"state":"running"`)
	w.says(live.Input{Type: "abort"})
	w.until(`"type":"turn"`)
	until(`"state":"idle"`)
}
