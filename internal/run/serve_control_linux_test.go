package run_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

// says is what the server answers to an action of the page, and its status.
func (b *browser) says(id, act, body string) (int, string) {
	b.t.Helper()
	return b.told("POST", "/api/page/"+id+"/"+act, body)
}

func (b *browser) told(method, path, body string) (int, string) {
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
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// does is an action that is done.
func (b *browser) does(id, act, body string, want ...string) string {
	b.t.Helper()
	code, text := b.says(id, act, body)
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.t.Errorf("%s %s: %s, without %q", act, body, text, w)
		}
	}
	if code != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", act, body, code, text)
	}
	return text
}

func (b *browser) asks(id, what string, want ...string) string {
	b.t.Helper()
	code, text := b.told("GET", "/api/page/"+id+"/"+what, "")
	for _, w := range want {
		if code != http.StatusOK || !strings.Contains(text, w) {
			b.t.Errorf("%s: %d %s, without %q", what, code, text, w)
		}
	}
	return text
}

// looks follows a session as a page does: all that it was told, and the newest bar.
type looks struct {
	b   *browser
	mu  sync.Mutex
	all strings.Builder
	bar struct {
		State, Mode, Effort string
		Queue               []string
	}
}

func (b *browser) looksAt(id string) *looks {
	l := &looks{b: b}
	in := bufio.NewScanner(b.send("GET", "/api/page/watch?session="+id, "").Body)
	in.Buffer(nil, 64<<20)
	go func() {
		for in.Scan() {
			var notes []struct {
				T   string
				Bar json.RawMessage
			}
			_ = json.Unmarshal([]byte(strings.TrimPrefix(in.Text(), "data: ")), &notes) // an empty line stands between two
			l.mu.Lock()
			l.all.WriteString(in.Text())
			for _, n := range notes {
				if n.T == "bar" {
					l.bar.State, l.bar.Mode, l.bar.Effort, l.bar.Queue = "", "", "", nil
					_ = json.Unmarshal(n.Bar, &l.bar)
				}
			}
			l.mu.Unlock()
		}
	}()
	return l
}

func (l *looks) sees(text string) {
	l.b.t.Helper()
	waitFor(l.b.t, text, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(l.all.String(), text)
	})
}

// is waits until the bar is so.
func (l *looks) is(state, mode string, queue ...string) {
	l.b.t.Helper()
	waitFor(l.b.t, state+" "+mode, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.bar.State == state && l.bar.Mode == mode && slices.Equal(l.bar.Queue, queue)
	})
}

// controlled is the script of a session that a page controls.
const controlled = "-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"one\\ntwo\\n\"}\n-- 2 --\ntext: It is made.\n" +
	"-- 3 --\ncall write: {\"path\":\"more.txt\",\"content\":\"x\\n\"}\n-- 4 --\ntext: There is more.\n" +
	"-- 5 --\ncall bash: {\"command\":\"sleep 600\"}\n-- 6 --\ntext: last\n-- 7 --\ntext: last\n"

// controls does in a session of another process all that a page can; the session has made made.txt.
func (b *browser) controls(u *user, id string) {
	t := b.t
	t.Helper()
	page := b.looksAt(id)
	page.sees("It is made.")
	page.is("idle", "ask")
	w := u.attach(id)
	w.until(`"type":"live"`)
	b.asks(id, "menu", `"Name":"auto"`, `"undo":true`, `"compact":true`, `"run":true`)
	b.asks(id, "models", "script/")
	b.asks(id, "files?q=made", "made.txt")
	b.asks(id, "export?form=md", "It is made.")
	file := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(u.dir, name))
		if err != nil {
			return ""
		}
		return string(raw)
	}
	b.does(id, "set", `{"name":"mode","value":"edits"}`)
	b.does(id, "set", `{"name":"effort","value":"high"}`)
	page.sees(`"effort":"high"`)
	b.does(id, "run", `{"text":"echo own > own.txt"}`)
	waitFor(t, "the own command", func() bool { return file("own.txt") == "own\n" })
	w.until(`"type":"turn"`)
	b.does(id, "say", `{"text":"and more"}`)
	page.sees("There is more.")
	w.until(`"type":"turn"`)

	changes := b.asks(id, "changes?since=session", "more.txt", "made.txt")
	_, rest, _ := strings.Cut(changes, `data-file=\"more.txt\"`)
	_, rest, _ = strings.Cut(rest, `data-hash=\"`)
	hash, _, _ := strings.Cut(rest, `\"`)
	b.does(id, "revert", fmt.Sprintf(`{"since":"session","file":"more.txt","hunk":0,"hash":%q}`, hash))
	waitFor(t, "the hunk that is taken back", func() bool { return file("more.txt") == "" })
	w.until(`"type":"turn"`)
	if code, text := b.says(id, "revert", fmt.Sprintf(`{"since":"session","file":"more.txt","hunk":0,"hash":%q}`, hash)); code != http.StatusConflict {
		t.Errorf("once more: %d %s", code, text)
	}
	first := b.plan(id) // without more.txt, because nobody saw whether the command removed it
	if file("made.txt") != "one\ntwo\n" {
		t.Error("a dry undo has changed a file")
	}
	for range 4 {
		if file("made.txt") == "" {
			break
		}
		b.does(id, "undo", fmt.Sprintf(`{"unknown":true,"plan":%q}`, b.plan(id, `"unknown":true`)))
	}
	if code, text := b.says(id, "undo", fmt.Sprintf(`{"plan":%q}`, first)); code != http.StatusConflict || !strings.Contains(text, "the plan has changed") {
		t.Errorf("a plan that is done: %d %s", code, text)
	}
	if text := file("made.txt"); text != "" {
		t.Errorf("undone, made.txt holds %q", text)
	}

	b.does(id, "say", `{"text":"wait","files":[{"filename":"note.txt","url":"data:text/plain,zebra"}]}`)
	page.sees("sleep 600")
	for _, act := range []string{"undo", "rewind"} {
		if code, text := b.says(id, act, `{}`); code != http.StatusConflict || !strings.Contains(text, "a turn runs") {
			t.Errorf("%s while a turn runs: %d %s", act, code, text)
		}
	}
	b.does(id, "say", `{"text":"later","queue":true}`)
	page.is("running", "edits", "later")
	b.does(id, "unqueue", `{"text":"later"}`)
	if code, _ := b.says(id, "unqueue", `{"text":"later"}`); code != http.StatusConflict {
		t.Errorf("taken back twice: %d", code)
	}
	b.does(id, "stop", `{}`)
	page.is("idle", "edits")
	b.does(id, "rewind", `{}`, `wait`)
	b.does(id, "rename", `{"name":"A new name"}`)
	fork := b.does(id, "fork", `{}`)
	if strings.Contains(b.asks(id, "export?form=md"), "zebra") {
		t.Error("what was taken back is exported")
	}
	var forked struct{ ID string }
	if json.Unmarshal([]byte(fork), &forked) != nil || forked.ID == "" {
		t.Errorf("a fork is %s", fork)
	}
}

// plan names what an undo with such wishes would do now.
func (b *browser) plan(id string, wishes ...string) string {
	b.t.Helper()
	var shown struct{ Plan string }
	if err := json.Unmarshal([]byte(b.does(id, "undo", "{"+strings.Join(append(wishes, `"dry":true`), ",")+"}", `"Turns":[`)), &shown); err != nil || shown.Plan == "" {
		b.t.Fatalf("the plan is %+v (%v)", shown, err)
	}
	return shown.Plan
}

// recorded are the acts of clients in the log of a session.
func (u *user) recorded(id string) (acts []string) {
	u.t.Helper()
	logs, err := sessiondb.Look(u.t.Context(), filepath.Join(u.home, "state", "sessions.db"), sessiondb.Options{})
	if err != nil {
		u.t.Fatal(err)
	}
	defer logs.Close()
	err = logs.ScanEach(u.t.Context(), sessiondb.Scan{Session: session.ID(id), Types: []session.EntryType{session.ClientEntry}}, func(f sessiondb.ScanResult) error {
		var c session.Client
		if err := json.Unmarshal(f.Entry.Data, &c); err != nil {
			return err
		}
		acts = append(acts, c.Kind+": "+c.Act)
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return acts
}

func (u *user) recordsAll(id string) {
	u.t.Helper()
	got := u.recorded(id)
	for _, want := range []string{"set mode edits", "set effort high", "run echo own > own.txt", "revert more.txt", "undo", "rewind", "unqueue", "prompt"} {
		if !slices.Contains(got, "page: "+want) {
			u.t.Errorf("%q is not among what is recorded: %q", want, got)
		}
	}
}

// TestThePageControlsASessionOfATerminal: what the page does is done there, and is seen there.
func TestThePageControlsASessionOfATerminal(t *testing.T) {
	u := newUser(t)
	first := u.openPane(120, 40)
	first.adze("--permission-mode=ask", "--sandbox=off", "--allow", "write(**)", "--allow", "execute(sleep **)", u.script(controlled))
	first.text("make it")
	first.keys("Enter")
	first.sees("It is made.")
	_, address := u.serving(u.script("-- 1 --\ntext: never\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	id := u.newest()
	b.controls(u, id)
	first.sees("edits")
	u.recordsAll(id)
	other := u.scripts("-- 1 --\ntext: The other answers.\n")[0]
	if code, text := b.says(id, "set", `{"name":"model","value":"script/none"}`); code == http.StatusOK {
		t.Errorf("a model that is not there: %s", text)
	}
	b.does(id, "set", fmt.Sprintf(`{"name":"model","value":%q}`, other), id)
	first.sees("modela.txtar")
	waitFor(t, "its owner", func() bool {
		code, _ := b.says(id, "say", `{"text":"who answers?"}`)
		return code == http.StatusOK
	})
	first.sees("The other answers.")
	first.quit()
}

// TestThePageControlsASessionInTheBackground: the same, where there is no window.
func TestThePageControlsASessionInTheBackground(t *testing.T) {
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", "--sandbox=off", "--allow", "execute(sleep **)", u.script(controlled), "make it")
	w.answers("once")
	w.until("It is made.") // and it stays, since it is watched
	_, address := u.serving(u.script("-- 1 --\ntext: never\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	b.controls(u, id)
	u.recordsAll(id)
}

// TestThePageControlsARunForOnePrompt as far as it goes while its turn runs.
func TestThePageControlsARunForOnePrompt(t *testing.T) {
	u := newUser(t)
	u.file("notes.txt", "x")
	one := u.start("-p", "--sandbox=off", "--allow", "execute(sleep **)", "--output-format=stream-json", u.script("-- 1 --\ncall bash: {\"command\":\"sleep 600\"}\n"), "wait")
	one.until("tool_start")
	_, address := u.serving(u.script("-- 1 --\ntext: never\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	id := u.newest()
	b.looksAt(id).sees("sleep 600")
	b.asks(id, "menu", `"Name":"auto"`)
	b.asks(id, "changes", `"files":0`)
	b.asks(id, "files?q=notes", "notes.txt")
	b.asks(id, "export?form=md", "wait")
	b.does(id, "set", `{"name":"mode","value":"edits"}`)
	if code, text := b.says(id, "undo", `{}`); code != http.StatusConflict || !strings.Contains(text, "a turn runs") {
		t.Errorf("undo: %d %s", code, text)
	}
	b.does(id, "rename", `{"name":"A new name"}`)
	b.does(id, "fork", `{}`, `"id"`)
}
