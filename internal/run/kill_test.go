package run_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/internal/testkit/effort"
	"adze/session"
	"adze/tool"
)

// worker is a written model that changes something in each of so many steps, and looks at it then.
func worker(steps int) string {
	var b strings.Builder
	for i := range steps {
		fmt.Fprintf(&b, "-- %d --\ntext: step %d\ncall bash: {\"command\":\"echo %d >>done\"}\n", 2*i+1, i+1, i+1)
		fmt.Fprintf(&b, "-- %d --\ntext: look %d\ncall read: {\"path\":\"done\",\"limit\":%d}\n", 2*i+2, i+1, i+1)
	}
	fmt.Fprintf(&b, "-- %d --\ntext: end\n", 2*steps+1)
	return b.String()
}

// TestKilledAtAnyMoment kills runs after a random line of their output and goes on at once: nothing
// that was seen is lost, nothing is done twice, and nobody holds a lock. ADZE_TESTS=long makes it
// long.
func TestKilledAtAnyMoment(t *testing.T) {
	needs(t, "bash")
	const steps = 6
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range effort.Rounds(4, 20, 1000) {
		u := newUser(t)
		seen := u.killAfter(random.IntN(18*steps), worker(steps))
		more := u.run("-p", "--continue", u.script("-- 1 --\ntext: on\n"), "go on")
		if more.code == 2 && len(seen) == 0 {
			continue // it was killed before its first commit: there is no session
		}
		more.wants(0)
		u.audited(seen)
		u.wantOnce("done")
		u.run("sessions", "verify", "--all").wants(0, "1 session checked, all sound")
		u.indexHolds("step")
		u.undoHolds()
	}
}

// indexHolds checks that the search index, brought up to date, finds what one finds that is made
// anew.
func (u *user) indexHolds(words string) {
	u.t.Helper()
	search := func() ran { return u.run("session", "search", words, "--all", "--json") }
	u.run("session", "search", words, "--all")
	before := search()
	db, err := sql.Open("sqlite", filepath.Join(u.home, "state", "sessions.db"))
	if err == nil {
		_, err = db.Exec("DROP TABLE words; DROP TABLE indexed")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		u.t.Fatal(err)
	}
	if after := search(); before.out != after.out || before.code != after.code {
		u.t.Errorf("the index finds\n%s\none that is made anew\n%s", before.out, after.out)
	}
}

// undoHolds checks that all is undone that calls are known to have done, and comes back.
func (u *user) undoHolds() {
	u.t.Helper()
	u.run("undo", "--list").wants(0)
	path := filepath.Join(u.dir, "done")
	worked, err := os.ReadFile(path)
	undone := u.run("undo", "--to", "0")
	switch left, lerr := os.ReadFile(path); {
	case undone.code == 0 && err == nil && lerr == nil && len(left) > 0:
		u.t.Errorf("undone, it holds %q: %s", left, undone.out)
	case strings.Contains(undone.err, "the disk is too full"):
		u.t.Log("undo was not tried: the disk of this machine is too full for it")
	case undone.code == 0:
		u.run("redo")
		if again, _ := os.ReadFile(path); string(again) != string(worked) {
			u.t.Errorf("redone, it holds %q, want %q", again, worked)
		}
	case undone.code != 7 && undone.code != 2: // a call that nobody knows the end of, or nothing to undo
		u.t.Errorf("undo: exit code %d\n%s%s", undone.code, undone.out, undone.err)
	}
}

// killAfter kills a run after so many lines and returns the calls whose end it has told.
func (u *user) killAfter(lines int, steps string) (ended []string) {
	u.t.Helper()
	cmd := u.command("-p", "--output-format", "stream-json", "--permission-mode", "yolo", u.script(steps), "work")
	out, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 0; ; n++ {
		if n == lines {
			cmd.Process.Kill() // what it told before that is still in the pipe, and counts
		}
		if !scanner.Scan() {
			break
		}
		var l line
		if json.Unmarshal(scanner.Bytes(), &l) == nil && l["type"] == "tool_end" {
			ended = append(ended, fmt.Sprint(l["call"]))
		}
	}
	_ = cmd.Wait() // it was killed
	return ended
}

// audited checks that the one session of the user is sound, that each call has one outcome, and
// that those are there.
func (u *user) audited(ended []string) {
	u.t.Helper()
	found, _ := filepath.Glob(filepath.Join(u.home, "*", "sessions.db"))
	if len(found) != 1 {
		found, _ = filepath.Glob(filepath.Join(u.home, "sessions.db"))
	}
	if len(found) != 1 {
		u.t.Fatalf("databases %v", found)
	}
	s, err := sessiondb.Look(u.t.Context(), found[0], sessiondb.Options{})
	if err != nil {
		u.t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.List(u.t.Context())
	if err != nil || len(heads) != 1 {
		u.t.Fatalf("%d sessions, %v", len(heads), err)
	}
	if _, err := s.Verify(u.t.Context(), heads[0].ID); err != nil {
		u.t.Error(err)
	}
	called, outcomes := map[tool.CallID]int{}, map[tool.CallID]int{}
	entries, err := s.Load(u.t.Context(), heads[0].ID)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, e := range entries {
		var m session.Message
		var o tool.Outcome
		switch {
		case e.Type == session.MessageEntry && json.Unmarshal(e.Data, &m) == nil:
			for _, c := range m.Calls() {
				called[c.ID]++
			}
		case e.Type == session.OutcomeEntry && json.Unmarshal(e.Data, &o) == nil:
			outcomes[o.Call]++
		}
	}
	for id, n := range called {
		if n != 1 || outcomes[id] != 1 {
			u.t.Errorf("call %s stands %d times and has %d outcomes", id, n, outcomes[id])
		}
	}
	for _, id := range ended {
		if outcomes[tool.CallID(id)] != 1 {
			u.t.Errorf("the end of call %s was told, and is not in the log", id)
		}
	}
}

// wantOnce checks that no line of a file stands there twice.
func (u *user) wantOnce(name string) {
	u.t.Helper()
	raw, _ := os.ReadFile(filepath.Join(u.dir, name)) // none: nothing was done
	seen := map[string]bool{}
	for _, l := range strings.Fields(string(raw)) {
		if seen[l] {
			u.t.Errorf("%s was done twice: %q", l, raw)
		}
		seen[l] = true
	}
}

// TestTheDiskIsFullAtAnyMoment lets no file of a run grow beyond a random size, as a full disk
// does: the run says so with its exit code, what it told is in the log, and it goes on when there
// is room. ADZE_TESTS=long makes it long.
func TestTheDiskIsFullAtAnyMoment(t *testing.T) {
	effort.Needs(t, effort.Short, "it runs whole programs at a full disk")
	needs(t, "bash")
	if runtime.GOOS != "linux" {
		t.Skip("needs ulimit -f in KiB")
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range effort.Rounds(4, 4, 300) {
		u := newUser(t)
		self := u.command("-p", "--output-format", "stream-json", "--permission-mode", "yolo", u.script(worker(12)), "work")
		size := 40 + random.IntN(160)
		cmd := exec.Command("bash", append([]string{"-c", fmt.Sprintf(`trap "" XFSZ; ulimit -f %d; exec "$0" "$@"`, size)}, self.Args...)...)
		cmd.Dir, cmd.Env = self.Dir, self.Env
		out, _ := cmd.Output() // the code is what counts
		code := cmd.ProcessState.ExitCode()
		if code != 10 && code != 0 {
			t.Errorf("exit code %d with %d KiB: %s", code, size, out)
		}
		var ended []string
		for _, l := range (ran{t, string(out), "", code}).lines() {
			if l["type"] == "tool_end" {
				ended = append(ended, fmt.Sprint(l["call"]))
			}
		}
		more := u.run("-p", "--continue", u.script("-- 1 --\ntext: on\n"), "go on")
		if more.code == 2 && len(ended) == 0 {
			continue // not even the first commit had room
		}
		more.wants(0)
		u.audited(ended)
		u.wantOnce("done")
	}
}

// TestTheStateGoesAwayDuringARun: what can no longer be saved is not done.
func TestTheStateGoesAwayDuringARun(t *testing.T) {
	needs(t, "bash")
	for _, command := range []string{"rm -rf %s/state", "chmod -R a-w %s/state", "rm %s/state/sessions.db*", "mv %s/state %[1]s/away"} {
		u := newUser(t)
		u.t.Cleanup(func() { exec.Command("chmod", "-R", "u+w", u.home).Run() })
		u.file("wreck", fmt.Sprintf(command, u.home)) // by its name alone the gate would keep the folder
		steps := "-- 1 --\ncall bash: {\"command\":\"sh wreck\"}\n-- 2 --\ntext: all done\n"
		u.run("-p", "--permission-mode", "yolo", u.script(steps), "go").wants(10, "session store", "while adze had it open")
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(program + " is not installed")
	}
}
