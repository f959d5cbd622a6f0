package run_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/golden"
)

// furnish makes a workspace anew: the same one each time.
func furnish(t *testing.T, dir string) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range turnNames() {
		if i%3 == 2 {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("line of "+name+"\n", 3)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func turnNames() (out []string) {
	for _, dir := range []string{"", "a/", "a/b/", "c/"} {
		for _, name := range []string{"one", "two", "three", "four"} {
			out = append(out, dir+name)
		}
	}
	return out
}

// generatedTurn is a turn of calls that change files in all ways; some of them fail.
func generatedTurn(r *rand.Rand) string {
	names, folders := turnNames(), []string{"a", "a/b", "c", "new", "new/er"}
	name := func() string { return names[r.IntN(len(names))] }
	folder := func() string { return folders[r.IntN(len(folders))] }
	var out strings.Builder
	steps := 2 + r.IntN(5)
	for step := range steps {
		fmt.Fprintf(&out, "-- %d --\n", step+1)
		for range 1 + r.IntN(3) {
			a, b, n := name(), name(), r.IntN(1000)
			switch r.IntN(16) {
			case 0:
				fmt.Fprintf(&out, "call write: {\"path\":%q,\"content\":\"made %d\\n\"}\n", fmt.Sprint(folder(), "/fresh-", n), n)
			case 1, 2:
				fmt.Fprintf(&out, "call read: {\"path\":%q}\ncall edit: {\"path\":%q,\"edits\":[{\"old_string\":%q,\"new_string\":\"edited %d\",\"replace_all\":true}]}\n", a, a, "line of "+a, n)
			default:
				commands := []string{
					fmt.Sprintf("mv %s %s", a, b), fmt.Sprintf("rm -f %s", a), fmt.Sprintf("rm -rf %s", folder()), fmt.Sprintf("mkdir -p %s && echo %d > %s/by-bash", folder(), n, folder()),
					fmt.Sprintf("chmod %d %s", []int{600, 640, 755, 444}[n%4], a), fmt.Sprintf("chmod %d %s", []int{700, 750, 755, 711}[n%4], folder()), fmt.Sprintf("ln -s %s link-%d", a, n%5),
					fmt.Sprintf("sed -i s/line/row%d/ %s", n, a), fmt.Sprintf("cp -r %s copy-%d", folder(), n%4), fmt.Sprintf("echo more >> %s", a), fmt.Sprintf("mv %s moved-%d", folder(), n%4),
					fmt.Sprintf("truncate -s %d %s", n%40, a), fmt.Sprintf("for i in 1 2 3; do echo $i > %s.$i; done; rm %s.2", a, a), fmt.Sprintf("rm -rf %s; mkdir %s; echo %d > %s/again", folder(), folder(), n, folder()),
				}
				out.WriteString(bash(commands[r.IntN(len(commands))]))
			}
		}
	}
	return out.String() + fmt.Sprintf("-- %d --\ntext: done\n", steps+1)
}

// TestStagedTurnsAreTheTurnsThatTheyStandFor: a staged turn that is taken leaves the tree that the
// same turn leaves when it works on the workspace, one that is dropped leaves none of it, and so it
// is when adze is killed at any time. ADZE_TESTS says how often.
func TestStagedTurnsAreTheTurnsThatTheyStandFor(t *testing.T) {
	turns := effort.Rounds(2, 4, 200)
	seed := effort.Seed(t, rand.Uint64())
	r := rand.New(rand.NewPCG(seed, 32))
	u := newUser(t)
	sandboxed(t, u)
	direct := t.TempDir()
	turned, taken := killing{300 * time.Millisecond, 0}, killing{150 * time.Millisecond, 0}
	begun, changed := 0, 0
	for round := range turns {
		turn := u.script(generatedTurn(r))
		failed := func(what, got, want string) {
			t.Helper()
			text, _ := os.ReadFile(filepath.Join(u.home, "script.txtar"))
			t.Fatalf("seed %d, round %d: %s:\n%s\nwant\n%s\nof\n%s", seed, round, what, got, want, text)
		}
		same := func(what, dir, want string) {
			t.Helper()
			if got := golden.Tree(t, dir); got != want {
				failed(what, got, want)
			}
		}
		furnish(t, u.dir)
		furnish(t, direct)
		before := golden.Tree(t, u.dir)
		u.run("-p", "--permission-mode=yolo", "--sandbox=off", "--cwd="+direct, turn, "work").wants(0)
		after := golden.Tree(t, direct)
		if after != before {
			changed++
		}
		staged := func(more ...string) ran {
			return u.run(append([]string{"-p", "--permission-mode=staged"}, append(more, turn, "work")...)...)
		}
		staged("--staged=drop").wants(0)
		same("dropped", u.dir, before)
		// Killed in the turn: nothing of it is in the workspace, and what is there can be dropped.
		turned.kill(r, u.command("-p", "--permission-mode=staged", turn, "work"))
		same("killed in the turn", u.dir, before)
		if ended := u.run("-p", "--continue", "--staged=drop"); ended.code != 0 && ended.code != 2 && ended.code != 3 {
			ended.wants(0)
		}
		same("killed and dropped", u.dir, before)
		// Killed while it is taken: finished at the next start, or not begun.
		staged().wants(0)
		same("kept", u.dir, before)
		taken.kill(r, u.command("-p", "--continue", "--staged=take"))
		u.run("-p", u.script("-- 1 --\ntext: hello\n"), "hello").wants(0)
		switch now := golden.Tree(t, u.dir); now {
		case after:
			begun++
		case before:
			last := u.run("session", "list").out
			u.run("-p", "--resume="+beforeLast(last), "--staged=take")
			same("taken after a kill", u.dir, after)
		default:
			failed("half taken", now, after)
		}
	}
	if changed < turns/2 {
		t.Errorf("seed %d: only %d of %d turns changed anything", seed, changed, turns)
	}
	t.Logf("%d turns, of which %d changed something; %d killed in the turn; %d killed while it was taken; %d of all takes had begun", turns, changed, turned.killed, taken.killed, begun)
}

// killing kills runs of a kind at any time of those that they take.
type killing struct {
	took   time.Duration
	killed int
}

func (k *killing) kill(r *rand.Rand, c *exec.Cmd) {
	begin := time.Now()
	err := c.Start()
	if err == nil {
		over := time.AfterFunc(time.Duration(r.Int64N(int64(k.took))), func() { _ = c.Process.Signal(syscall.SIGKILL) })
		defer over.Stop()
		err = c.Wait()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		k.killed++
		return
	}
	k.took = (k.took + time.Since(begin)) / 2
}

// beforeLast is the session before the newest one of a list.
func beforeLast(list string) string {
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) < 2 {
		return ""
	}
	for i, line := range lines {
		if f := strings.Fields(line); i > 0 && len(f) > 0 && strings.Contains(line, "work") {
			return f[0]
		}
	}
	return strings.Fields(lines[1])[0]
}
