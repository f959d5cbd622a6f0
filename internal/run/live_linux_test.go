package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/live"
	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/session"
)

// watching is a client of a session that another process has.
type watching struct {
	*live.Client
	t *testing.T
}

func (u *user) sockets() string {
	return live.Folder(func(string) string { return "" }, filepath.Join(u.home, "state"))
}

// inBackground starts a session and attaches to it.
func (u *user) inBackground(args ...string) (id string, w *watching) {
	u.t.Helper()
	id = strings.TrimSpace(u.run(append([]string{"--background"}, args...)...).wants(0, "adze attach").out)
	u.t.Cleanup(func() { u.run("stop", id) })
	return id, u.attach(id)
}

func (u *user) attach(id string) *watching {
	u.t.Helper()
	c, err := live.Dial(u.t.Context(), u.sockets(), session.ID(id), live.Wish{As: "test"})
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(u.home, "state", "background", "*"))
		for _, l := range logs {
			text, _ := os.ReadFile(l)
			u.t.Logf("%s: %s", l, text)
		}
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { c.Close() })
	return &watching{c, u.t}
}

// until reads to a line that has a text, and returns all lines up to it.
func (w *watching) until(text string) (all string) {
	w.t.Helper()
	for {
		l, err := w.Next()
		if err != nil {
			w.t.Fatalf("waiting for %q: %v\n%s", text, err, all)
		}
		all += string(l.Raw) + "\n"
		if strings.Contains(string(l.Raw), text) {
			return all
		}
	}
}

func (w *watching) says(line any) {
	w.t.Helper()
	if err := w.Send(line); err != nil {
		w.t.Fatal(err)
	}
}

// answers answers the question that is asked next.
func (w *watching) answers(choice string) {
	w.t.Helper()
	all := strings.TrimSpace(w.until(`{"type":"question"`))
	var q live.Question
	if err := json.Unmarshal([]byte(all[strings.LastIndexByte(all, '\n')+1:]), &q); err != nil {
		w.t.Fatal(err)
	}
	w.says(live.Answer{Type: "answer", Question: q.Question, Choice: choice})
}

// TestASessionInTheBackground waits for an answer, which another process gives, ends itself when it
// is done and nobody is attached, and can be read and gone on with.
func TestASessionInTheBackground(t *testing.T) {
	u := newUser(t)
	steps := "-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n-- 2 --\nexpect write completed: made\ntext: All is done.\n-- 3 --\ntext: Third answer.\n"
	id, w := u.inBackground("--permission-mode=ask", u.script(steps), "make it")
	w.until("make it")
	second := u.attach(id)
	if h := second.Hello; h.Window || h.Title != "make it" || h.State == live.Idle {
		t.Errorf("hello is %+v", h)
	}
	second.until(`{"type":"question"`) // it has joined: what comes now it is told
	w.answers("once")
	second.until(`"type":"answered"`)
	second.until(`"type":"turn"`)
	w.until(`"type":"turn"`)
	w.says(live.Prompt{Type: "prompt", Text: "and more"})
	w.until(`"type":"accepted"`)
	second.until("Third answer.")
	w.until(`"type":"turn"`)
	w.Close()
	second.Close()
	waitFor(t, "its end", func() bool {
		_, err := live.Dial(t.Context(), u.sockets(), session.ID(id), live.Wish{})
		return errors.Is(err, live.ErrNobody)
	})
	u.run("logs", id).wants(0, "> make it", "All is done.", "> and more", "Third answer.")
	u.run("attach", id).wants(2, "no process has a session")
	u.run("-p", "--resume", id, u.script("-- 1 --\ntext: gone on\n"), "go on").wants(0, "gone on")
	var acts []string
	logs, err := sessiondb.Look(t.Context(), filepath.Join(u.home, "state", "sessions.db"), sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	err = logs.Each(t.Context(), sessiondb.Scan{Session: session.ID(id), Types: []session.EntryType{session.ClientEntry}}, func(f sessiondb.Found) error {
		var c session.Client
		if err := json.Unmarshal(f.Entry.Data, &c); err != nil || c.PID != os.Getpid() || c.As != "test" {
			t.Errorf("it was %s: %v", f.Entry.Data, err)
		}
		acts = append(acts, c.Act)
		return nil
	})
	if want := []string{"answer q1 once", "prompt"}; err != nil || !slices.Equal(acts, want) {
		t.Errorf("recorded are %q, %v, want %q", acts, err, want)
	}
	allIsThereOnce(t, filepath.Join(u.home, "state", "sessions.db"), "make it", "All is done.", "and more", "Third answer.", "go on", "gone on")
}

// TestStopEndsASessionInTheBackground with what it started; it is kept.
func TestStopEndsASessionInTheBackground(t *testing.T) {
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"), "make it")
	w.until(`{"type":"question"`)
	u.run("stop", id[:len(id)-2]).wants(0, "stopped", id)
	for {
		_, err := w.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	u.run("stop", id).wants(2, "no process has a session")
	u.run("-p", "--resume", id, u.script("-- 1 --\ntext: gone on\n"), "go on").wants(0, "gone on")
}

// TestASecondSessionOfACheckoutGetsAWorkTree of its own.
func TestASecondSessionOfACheckoutGetsAWorkTree(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	inGit(t, u.dir, "init", "-q", "-b", "main")
	inGit(t, u.dir, "commit", "-q", "--allow-empty", "-m", "first")
	asks := "-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"
	_, one := u.inBackground("--permission-mode=ask", u.script(asks), "one")
	_, two := u.inBackground("--permission-mode=ask", u.script(asks), "two")
	if a, b := one.Hello.Cwd, two.Hello.Cwd; a == b || a != u.dir {
		t.Errorf("they work in %s and %s", a, b)
	}
}

// TestAKilledOwnerIsSeenAtOnce by each watcher, and its session goes on from its log.
func TestAKilledOwnerIsSeenAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(effort.Seed(t, 34), 0))
	for range effort.Rounds(3, 8, 300) {
		lines := random.IntN(6) // what a watcher has read by then
		t.Run(fmt.Sprint(lines), func(t *testing.T) {
			u := newUser(t)
			id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ntext: one\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n-- 2 --\ntext: done\n"), "make it")
			watchers := []*watching{w, u.attach(id), u.attach(id)}
			for range lines {
				if _, err := w.Next(); err != nil {
					t.Fatal(err)
				}
			}
			killed := time.Now()
			if err := syscall.Kill(w.Hello.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			for _, w := range watchers {
				for {
					_, err := w.Next()
					if errors.Is(err, live.ErrKilled) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("seen after %s", time.Since(killed))
			u.run("-p", "--resume", id, u.script("-- 1 --\ntext: gone on\n"), "go on").wants(0, "gone on")
			for _, text := range []string{"make it", "go on"} {
				if logged := u.run("logs", id).out; strings.Count(logged, "> "+text+"\n") != 1 {
					t.Errorf("%q is not there once:\n%s", text, logged)
				}
			}
		})
	}
}

// TestACallReachesNoSession: neither from the sandbox, nor without one, also when the process has
// left its parents.
func TestACallReachesNoSession(t *testing.T) {
	needs(t, "python3")
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"), "make it")
	w.until(`{"type":"question"`)
	socket := filepath.Join(u.sockets(), id+".sock")
	u.file("where", socket) // a command that names it is denied
	u.file("c.py", `import os, socket, sys
where = open("where").read()
if sys.argv[1] == "fork":
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    os.execve(sys.executable, [sys.executable, "c.py", "call", sys.argv[2]], {})
try:
    s = socket.socket(socket.AF_UNIX); s.connect(where)
    said = s.makefile().readline()
except OSError as e:
    said = "no way: " + e.strerror
open(sys.argv[2], "w").write(said); os.rename(sys.argv[2], sys.argv[2] + ".txt")
`)
	for name, box := range map[string]string{"free": "off", "boxed": "required"} {
		for _, how := range []string{"call", "fork"} {
			out := name + "-" + how
			command := fmt.Sprintf("env -u ADZE python3 c.py %s %s; for i in $(seq 100); do test -e %[2]s.txt && break; sleep 0.05; done", how, out)
			args, _ := json.Marshal(map[string]string{"command": command, "description": "reach it"})
			r := u.run("-p", "--permission-mode=yolo", "--sandbox="+box, u.script("-- 1 --\ncall bash: "+string(args)+"\n-- 2 --\ntext: done\n"), "go")
			if r.code != 0 {
				t.Logf("%s: no such sandbox here: %s", name, r.err)
				continue
			}
			got, err := os.ReadFile(filepath.Join(u.dir, out+".txt"))
			if said := string(got); err != nil || !strings.Contains(said, `"type":"refused"`) && !strings.HasPrefix(said, "no way") {
				t.Errorf("%s: it was told %q, %v", out, said, err)
			} else {
				t.Logf("%s: %s", out, said)
			}
		}
	}
	if _, err := live.Dial(context.Background(), u.sockets(), session.ID(id), live.Wish{}); err != nil {
		t.Errorf("the user is refused, too: %v", err)
	}
}

// TestTwelveSessionsAtOnce prints what each of twelve sessions that wait for an answer holds for
// itself, and how often all of them were woken meanwhile.
//
//	ADZE_TESTS=short go test -v -run TestTwelveSessionsAtOnce ./internal/run
func TestTwelveSessionsAtOnce(t *testing.T) {
	effort.Needs(t, effort.Short, "twelve sessions at once")
	u := newUser(t)
	model := u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n")
	var pids []int
	for range 12 {
		_, w := u.inBackground("--permission-mode=ask", model, "make it")
		w.until(`{"type":"question"`)
		pids = append(pids, w.Hello.PID)
	}
	all, err := live.List(t.Context(), u.sockets())
	if err != nil || len(all) != 12 {
		t.Fatalf("%d sessions live: %v", len(all), err)
	}
	for _, h := range all {
		if h.State != live.Waiting || h.Questions != 1 {
			t.Errorf("%s is %s with %d questions", h.Session, h.State, h.Questions)
		}
	}
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			t.Skip(err)
		}
		held := map[string]int{}
		for line := range strings.Lines(string(raw)) {
			var name string
			var kb int
			if n, _ := fmt.Sscanf(line, "%s %d kB", &name, &kb); n == 2 {
				held[strings.TrimSuffix(name, ":")] = kb
			}
		}
		t.Logf("process %d: %.1f MB of its own, %.1f MB with its share of the program", pid, float64(held["Private_Dirty"])/1024, float64(held["Pss"])/1024)
	}
}

// TestAHookHearsThatTheUserIsNeeded, and nothing of what is asked.
func TestAHookHearsThatTheUserIsNeeded(t *testing.T) {
	u := newUser(t)
	u.hooks(`{"hooks": {"needs_you": [{"command": "cat > told"}]}}`)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"zebra.txt\",\"content\":\"giraffe\"}\n"), "make the okapi")
	w.until(`{"type":"question"`)
	told := ""
	waitFor(t, "the hook", func() bool {
		raw, err := os.ReadFile(filepath.Join(u.dir, "told"))
		told = string(raw)
		return err == nil && told != ""
	})
	if !strings.Contains(told, id) || strings.Contains(told, "zebra") || strings.Contains(told, "giraffe") || strings.Contains(told, "okapi") {
		t.Errorf("it was told %s", told)
	}
}
