//go:build linux || windows

package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	id = strings.TrimSpace(u.run(append([]string{"--background"}, args...)...).wants(0, "adze sessions attach").out)
	u.t.Cleanup(func() { u.run("stop", id) })
	return id, u.attach(id)
}

func (u *user) attach(id string) *watching {
	u.t.Helper()
	c, err := live.Dial(u.t.Context(), u.sockets(), session.ID(id), live.Subscription{Kind: "test"})
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
	w.says(live.Input{Type: "answer", Question: q.Question, Choice: choice})
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
	w.says(live.Input{Type: "prompt", Text: "and more"})
	accepted := w.until(`"type":"accepted"`)
	second.until("Third answer.")
	if !strings.Contains(accepted, `"type":"turn"`) { // a turn may end before its prompt is answered
		w.until(`"type":"turn"`)
	}
	w.Close()
	second.Close()
	waitFor(t, "its end", func() bool {
		_, err := live.Dial(t.Context(), u.sockets(), session.ID(id), live.Subscription{})
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
	err = logs.ScanEach(t.Context(), sessiondb.Scan{Session: session.ID(id), Types: []session.EntryType{session.ClientEntry}}, func(f sessiondb.ScanResult) error {
		var c session.Client
		if err := json.Unmarshal(f.Entry.Data, &c); err != nil || c.PID != os.Getpid() || c.Kind != "test" {
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

// TestASessionThatFailsAtOnceHasBegun: its prompt is stored, so it is told of and can be gone on
// with, whether or not its process was still there to be looked at.
func TestASessionThatFailsAtOnceHasBegun(t *testing.T) {
	u := newUser(t)
	for range 3 {
		u.run("--background", u.script("-- 1 --\nexpect write completed: made\n"), "make it").wants(0, "adze")
		id := u.newest()
		waitFor(t, "its end", func() bool {
			_, err := live.Dial(t.Context(), u.sockets(), session.ID(id), live.Subscription{})
			return errors.Is(err, live.ErrNobody)
		})
		u.run("logs", id).wants(0, "> make it")
	}
	u.run("--background", "--model=none/none", "make it").wants(1, "did not begin")
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
			owner, err := os.FindProcess(w.Hello.PID)
			if err == nil {
				err = owner.Kill()
			}
			if err != nil {
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

// allIsThereOnce checks the one session of a database: its chain, and what was said in it.
func allIsThereOnce(t *testing.T, path string, want ...string) {
	t.Helper()
	s, err := sessiondb.Look(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.List(t.Context())
	if err != nil || len(heads) != 1 {
		t.Fatalf("%d sessions, %v", len(heads), err)
	}
	if _, err := s.Verify(t.Context(), heads[0].ID); err != nil {
		t.Error(err)
	}
	entries, err := s.Load(t.Context(), heads[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range entries {
		var m session.Message
		if e.Type == session.MessageEntry && json.Unmarshal(e.Data, &m) == nil && m.Text() != "" {
			said = append(said, m.Text())
		}
	}
	if got := strings.Join(said, ", "); got != strings.Join(want, ", ") {
		t.Errorf("the log has %s", got)
	}
}
