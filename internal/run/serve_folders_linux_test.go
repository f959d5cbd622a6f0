package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/live"
	"adze/session"
)

// got is a whole answer.
func (b *browser) got(method, path, body string) string {
	b.t.Helper()
	text, err := io.ReadAll(b.send(method, path, body).Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// TestThePageOfSeveralFolders: a session that is begun in the second folder works in the background
// there, with the rules of the server; what it changed waits for a review, on the page and in the
// list of a script. A session of a work tree is with them; one of an unnamed folder is not.
func TestThePageOfSeveralFolders(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	u := newUser(t)
	second, secret := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "start"}, {"worktree", "add", "-q", filepath.Join(u.home, "tree")}} {
		if out, err := exec.Command("git", append([]string{"-C", u.dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	says := u.script("-- 1 --\ntext: said\n")
	for _, dir := range []string{filepath.Join(u.home, "tree"), secret} {
		u.run("-p", "--cwd="+dir, says, "in "+filepath.Base(dir)).wants(0)
	}
	_, address := u.serving(u.dir, second, "--permission-mode=edits", "--sandbox=off", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n-- 2 --\ncall ask: {\"question\":\"Which one?\"}\n-- 3 --\nexpect ask completed: this\ntext: Done.\n"))
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	var came struct{ ID string }
	if err := json.Unmarshal([]byte(b.got("POST", "/api/page/new/begin", fmt.Sprintf(`{"text":"make it","folder":%q}`, second))), &came); err != nil {
		t.Fatal(err)
	}
	w := u.attach(came.ID)
	t.Cleanup(func() { // before its folders go
		w.Close()
		waitFor(t, "the end of the session's process", func() bool { return ended(w.Hello.PID) })
	})
	w.until(`"type":"question"`)
	list := b.watch("")
	if html := list(`"t":"list","html":"(.*Needs you.*asks: .*)"`); !strings.Contains(html, "in tree") || strings.Contains(html, filepath.Base(secret)) || !strings.Contains(html, `data-folder=\"`+second) {
		t.Errorf("the list: %s", html)
	}
	if text, err := os.ReadFile(filepath.Join(second, "made.txt")); err != nil || string(text) != "x" {
		t.Errorf("made.txt: %q %v", text, err)
	}
	until := b.watch(came.ID)
	name := until(`data-question=\\"([^\\]+)\\"`)
	b.send("POST", "/api/page/"+came.ID+"/answer", fmt.Sprintf(`{"question":%q,"text":"this"}`, name))
	list(`To review`)
	if out := u.run("sessions", "--json", "--all").wants(0).out; !strings.Contains(out, `"state":"to review"`) {
		t.Errorf("adze sessions --json: %s", out)
	}
	if text := b.got("GET", "/api/page/"+came.ID+"/peek", ""); !strings.Contains(text, `"said":"Done."`) || !strings.Contains(text, "made.txt") {
		t.Errorf("the peek: %s", text)
	}
	b.got("POST", "/api/page/"+came.ID+"/reviewed", `{}`)
	if out := u.run("sessions", "--json", "--all").wants(0).out; strings.Contains(out, `"state":"to review"`) {
		t.Errorf("adze sessions --json: %s", out)
	}
}

// TestEveryOwnerHasASessionNamed: the model of title_model names sessions of the page, and those in
// the background before their process ends.
func TestEveryOwnerHasASessionNamed(t *testing.T) {
	u := newUser(t)
	namer := filepath.Join(u.home, "namer.txtar")
	if err := os.WriteFile(namer, []byte("# t\n-- 1 --\ntext: A first meeting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.configure(`{"title_model": "script/` + namer + `"}`)
	who := u.script("-- 1 --\ntext: I am the first.\n")
	id := strings.TrimSpace(u.run("--background", who, "who are you").wants(0).out)
	if c, err := live.Dial(t.Context(), u.sockets(), session.ID(id), live.Subscription{StateOnly: true}); err == nil {
		for err == nil {
			_, err = c.Next()
		}
		c.Close()
	}
	titled := func() int {
		return strings.Count(u.run("sessions", "--json").wants(0).out, `"title":"A first meeting"`)
	}
	waitFor(t, "the title of the session in the background", func() bool { return titled() == 1 })
	_, address := u.serving(who)
	b := &browser{t: t}
	b.base, b.token, _ = strings.Cut(address, "/#")
	served := postTo(t, b.base+"/api/session", b.token, "{}")["id"]
	list := b.watch("")
	b.send("POST", "/api/page/"+served+"/say", `{"text":"who are you"}`)
	list(`"t":"list".*A first meeting.*A first meeting`)
}
