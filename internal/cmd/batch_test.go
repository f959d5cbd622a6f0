package cmd_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/posix"
	"adze/tool"
)

// inGit runs git in a folder, as somebody with a name.
func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes one with a file and a commit beside the workspace.
func (u *user) repository(name string) string {
	u.t.Helper()
	dir := filepath.Join(u.home, "repos", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	inGit(u.t, dir, "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	inGit(u.t, dir, "add", "-A")
	inGit(u.t, dir, "commit", "-q", "-m", "first")
	return dir
}

// withName gives the user what git asks for before a commit.
func (u *user) withName() *user {
	u.env = append(u.env, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
	return u
}

// batchResult is what these tests read of a line of results.jsonl.
type batchResult struct {
	Task, Cause, Message, Text, Patch, Base, Pushed, Session string
	OK                                                       bool
	Changed                                                  int `json:"files_changed"`
	Resumed                                                  int
	Labels                                                   map[string]string
	Calls                                                    map[string]map[tool.Status]int
}

func (u *user) batchResults(out string) map[string][]batchResult {
	u.t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
	if err != nil {
		u.t.Fatal(err)
	}
	all := map[string][]batchResult{}
	for line := range strings.Lines(string(raw)) {
		var r batchResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		all[r.Task] = append(all[r.Task], r)
	}
	return all
}

const appender = "-- 1 --\ncall bash: {\"command\":\"echo x >>count.txt\",\"description\":\"count\"}\n-- 2 --\ncall write: {\"path\":\"new.txt\",\"content\":\"new\\n\"}\n-- 3 --\ntext: it is done\n"

// TestABatchDoesEachTaskInACloneOfItsOwn: every kind of task and of failure has one result; patches
// apply to the base that the result names, and the repositories themselves stay as they are but for
// the branch that is asked for.
func TestABatchDoesEachTaskInACloneOfItsOwn(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	repo, model := u.repository("r"), u.script(appender)
	inGit(t, repo, "checkout", "-q", "-b", "other")
	inGit(t, repo, "commit", "-q", "--allow-empty", "-m", "of the other branch")
	inGit(t, repo, "update-ref", "refs/pull/7/head", "HEAD")
	inGit(t, repo, "checkout", "-q", "main")
	plain := filepath.Join(u.home, "plain")
	if err := os.MkdirAll(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plain, "p.txt"), []byte("p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tasks := fmt.Sprintf(`{"id":"model","repo":%[1]q,"prompt":"do it","flags":[%[3]q],"check":"grep -q x count.txt","branch":"done/it","labels":{"team":"core"}}
{"id":"checked","repo":%[1]q,"prompt":"do it","flags":[%[3]q],"check":"echo no such; exit 3"}
{"id":"pull","repo":%[1]q,"ref":"refs/pull/7/head","command":"git log -1 --format=%%s >head.txt"}
{"id":"branch","repo":%[1]q,"ref":"other","command":"git rev-parse --abbrev-ref HEAD >head.txt"}
{"id":"folder","folder":%[2]q,"command":"echo q >>p.txt && rm -rf nothing"}
{"id":"same","repo":%[1]q,"command":"true"}
{"id":"fails","repo":%[1]q,"command":"echo half >half.txt; exit 4"}
{"id":"nowhere","repo":"/nowhere/at/all","command":"true"}
{"id":"noref","repo":%[1]q,"ref":"v99","command":"true"}
{"id":"empty","folder":%[4]q,"command":"true"}
`, repo, plain, model, filepath.Join(u.home, "no-folder"))
	u.file("t.jsonl", tasks)
	r := u.run("batch", "t.jsonl", "--push", "--jobs", "3", "--keep", "failed", "--", "--permission-mode", "yolo").wants(8, "repository", "5 of 10 tasks did not succeed")
	out := filepath.Join(u.dir, "t.batch")
	all := u.batchResults(out)
	for id, want := range map[string]string{"model": "done", "checked": "check", "pull": "done", "branch": "done", "folder": "done", "same": "done", "fails": "tool",
		"nowhere": "repository", "noref": "repository", "empty": "repository"} {
		if len(all[id]) != 1 || all[id][0].Cause != want || all[id][0].OK != (want == "done") {
			t.Errorf("%s: %+v, want %s", id, all[id], want)
		}
	}
	if t.Failed() {
		t.Fatal(r.err)
	}
	if m := all["model"][0]; m.Text != "it is done" || m.Labels["team"] != "core" || m.Changed != 2 || m.Session == "" {
		t.Errorf("%+v", m)
	}
	for id, want := range map[string]string{"model": "count.txt:x", "checked": "new.txt:new", "pull": "head.txt:of the other branch", "branch": "head.txt:other", "fails": "half.txt:half"} {
		tree := t.TempDir()
		inGit(t, repo, "worktree", "add", "-q", "--detach", tree, all[id][0].Base)
		inGit(t, tree, "apply", "--index", filepath.Join(out, all[id][0].Patch))
		name, text, _ := strings.Cut(want, ":")
		if got, err := os.ReadFile(filepath.Join(tree, name)); strings.TrimSpace(string(got)) != text {
			t.Errorf("%s: %s is %q (%v), want %q", id, name, got, err, text)
		}
	}
	if all["same"][0].Patch != "" || all["folder"][0].Changed != 1 {
		t.Errorf("%+v %+v", all["same"], all["folder"])
	}
	if got, _ := os.ReadFile(filepath.Join(plain, "p.txt")); string(got) != "p\n" {
		t.Errorf("the folder itself was changed: %q", got)
	}
	if at := inGit(t, repo, "rev-parse", "done/it"); at != all["model"][0].Pushed || inGit(t, repo, "log", "-1", "--format=%s %P", at) != "do it "+all["model"][0].Base {
		t.Errorf("pushed %s, the result says %+v", at, all["model"][0])
	}
	if kept, _ := os.ReadDir(filepath.Join(out, "work")); len(kept) != 5 {
		t.Errorf("%d clones were kept, want those of the 5 that failed", len(kept))
	}
	u.run("session", "list", "--all").wants(0, "do it")
	// Once more: all have a result, nothing runs; a cause that is named is done again, and its
	// branch may not be taken over.
	u.run("batch", "t.jsonl", "--push", "--", "--permission-mode", "yolo").wants(8)
	if again := u.batchResults(out); len(again["model"]) != 1 || len(again["fails"]) != 1 {
		t.Errorf("%+v", again)
	}
	inGit(t, repo, "commit", "-q", "--allow-empty", "-m", "a later base")
	u.run("batch", "t.jsonl", "--push", "--retry", "tool,done", "--", "--permission-mode", "yolo").wants(8)
	again := u.batchResults(out)
	if len(again["fails"]) != 2 || len(again["model"]) != 2 || again["model"][1].Cause != "push" || len(again["nowhere"]) != 1 {
		t.Errorf("%+v", again)
	}
	if at := inGit(t, repo, "rev-parse", "done/it"); at != all["model"][0].Pushed {
		t.Errorf("the branch was moved to %s", at)
	}
}

// TestABatchIsHeldBySandboxAndMode: without a word about the mode, what the sandbox does not hold
// is denied.
func TestABatchIsHeldBySandboxAndMode(t *testing.T) {
	needs(t, "git")
	u := newUser(t)
	outside := filepath.Join(u.home, "outside")
	u.file("t.jsonl", fmt.Sprintf(`{"id":"a","repo":%q,"command":"echo x >%s; echo y >inside"}
{"id":"b","repo":%[1]q,"prompt":"x","flags":[%[3]q]}
`, u.repository("r"), outside, u.script("-- 1 --\ncall bash: {\"command\":\"echo x >"+outside+"\"}\n-- 2 --\ntext: done\n")))
	u.run("batch", "t.jsonl")
	if _, err := os.Stat(outside); err == nil {
		t.Error("a task wrote outside of its clone")
	}
	for _, r := range u.batchResults(filepath.Join(u.dir, "t.batch")) {
		if len(r) != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// TestAPatchRunsNothingOfAClone: what worked in a clone could make git run a program there.
func TestAPatchRunsNothingOfAClone(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	ran, repo := filepath.Join(t.TempDir(), "ran"), u.repository("r")
	evil := strings.ReplaceAll(`printf '#!/bin/sh\ntouch RAN\ncat\n' >evil.sh; chmod +x evil.sh
for k in core.fsmonitor core.sshCommand filter.f.clean filter.f.process diff.d.command diff.d.textconv diff.external core.editor gpg.program core.pager; do git config $k "$PWD/evil.sh"; done
git config core.hooksPath "$PWD/hooks"; git config commit.gpgsign true; mkdir hooks .git/hooks
for h in pre-commit post-index-change pre-push reference-transaction; do cp evil.sh hooks/$h; cp evil.sh .git/hooks/$h; done
mkdir -p .git/info; cp .gitattributes .git/info/attributes; echo z >>a.txt
git add a.txt; git diff >/dev/null; test -e RAN && rm RAN && touch armed`, "RAN", ran)
	for name, text := range map[string]string{"arm": evil, ".gitattributes": "* filter=f diff=d\n"} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inGit(t, repo, "add", "-A")
	inGit(t, repo, "commit", "-q", "-m", "armed")
	u.file("t.jsonl", fmt.Sprintf(`{"id":"a","repo":%q,"command":"sh ./arm","branch":"b"}`, repo))
	u.run("batch", "t.jsonl", "--push", "--keep", "all", "--", "--permission-mode", "yolo", "--sandbox", "off").wants(0)
	if _, err := os.Stat(filepath.Join(u.dir, "t.batch", "work", "a", "repository", "armed")); err != nil {
		t.Fatal("the trap does not work:", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the clone was run")
	}
	if r := u.batchResults(filepath.Join(u.dir, "t.batch"))["a"]; len(r) != 1 || r[0].Changed < 2 || r[0].Pushed == "" {
		t.Errorf("%+v", r)
	}
}

func TestABatchOfBrokenLinesBeginsNothing(t *testing.T) {
	u := newUser(t)
	u.file("t.jsonl", `{"repo":"r","command":"true"}
{"repo":"r","command":"true","flags":["--modle","x"]}
{"repo":"r","command":"true","flags":["--continue"]}
nonsense
`)
	u.run("batch", "t.jsonl").wants(2, "line 2: flags: unknown flag: --modle", "line 3: flags: --continue is not for a task", "line 4: it is no task", "nothing was begun")
	u.run("batch", "none.jsonl").wants(2, "none.jsonl")
	u.run("batch", "t.jsonl", "--", "--nonsense").wants(2, "--nonsense")
	u.run("batch", "t.jsonl", "more").wants(2, "one file")
	u.run("batch", "-").wants(2, "--out")
	u.file("e.jsonl", "\n# nothing\n")
	u.run("batch", "e.jsonl").wants(2, "has no task")
	if _, err := os.Stat(filepath.Join(u.dir, "t.batch")); err == nil {
		t.Error("something was begun")
	}
}

// TestABatchThatIsInterruptedGoesOn: the task that runs ends as by Ctrl-C, has no result, and the
// same command begins it anew in a new clone.
func TestABatchThatIsInterruptedGoesOn(t *testing.T) {
	needs(t, "git")
	u := newUser(t)
	begun := filepath.Join(t.TempDir(), "begun")
	model := u.script("-- 1 --\ncall bash: {\"command\":\"echo 1 >>count.txt\"}\n-- 2 --\ncall bash: {\"command\":\"echo begun >" + begun + "; sleep 1000\"}\n-- 3 --\ntext: late\n")
	u.file("t.jsonl", fmt.Sprintf(`{"id":"a","repo":%q,"prompt":"x"}`, u.repository("r")))
	if err := posix.Fifo(t, begun); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(begun, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	s := u.start("batch", "t.jsonl", "--json", "--", "--permission-mode", "yolo", model)
	if _, err := pipe.Read(make([]byte, 10)); err != nil { // until the command writes into it
		t.Fatal(err)
	}
	s.signal(os.Interrupt.(syscall.Signal)).wants(130, "goes on with the 1 task left")
	u.script("-- 1 --\ntext: on\n")
	u.run("batch", "t.jsonl", "--", "--permission-mode", "yolo", model).wants(0)
	r := u.batchResults(filepath.Join(u.dir, "t.batch"))["a"]
	if len(r) != 1 || !r[0].OK || r[0].Text != "on" || r[0].Changed != 0 {
		t.Fatalf("%+v", r)
	}
}

// ticking kills the batch with -9 at a tick that the test says: git ticks before and after each of
// its runs, and a written model around what it does.
const ticking = `n=$(flock TICKS sh -c 'echo . >>TICKS; wc -l <TICKS'); if [ "$n" = "$(cat KILLAT)" ]; then kill -9 "$(cat PID)"; fi
`

// TestABatchThatIsKilledGoesOn kills batches with -9 at random moments and goes on at once: every
// task has one result, from a new clone, and nothing is left running. ADZE_TESTS=long makes it
// long.
func TestABatchThatIsKilledGoesOn(t *testing.T) {
	effort.Needs(t, effort.Short, "it kills whole programs")
	needs(t, "git")
	needs(t, "flock")
	if runtime.GOOS != "linux" {
		t.Skip("what a killed batch started dies with it on Linux; elsewhere when it next says something")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	kills := effort.Rounds(4, 4, 50)
	for killed := 0; killed < kills; {
		n := killABatch(t, random, kills-killed)
		if n == 0 {
			t.Log("it came to its end before it was killed")
		}
		killed += n
		if n == 0 {
			kills--
		}
	}
}

// killABatch kills one batch up to most times and lets it end.
func killABatch(t *testing.T, random *rand.Rand, most int) (kills int) {
	u := newUser(t).withName()
	dir, out := t.TempDir(), filepath.Join(u.dir, "t.batch")
	at := func(name string) string { return filepath.Join(dir, name) }
	tick := strings.NewReplacer("TICKS", at("ticks"), "KILLAT", at("killat"), "PID", at("pid")).Replace(ticking)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	repo := u.repository("r")
	for name, text := range map[string]string{"tick": "#!/bin/sh\n" + tick, "git": "#!/bin/sh\n" + at("tick") + "\n" + git + " \"$@\"\ncode=$?\n" + at("tick") + "\nexit $code\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var steps strings.Builder
	for i := range 3 {
		fmt.Fprintf(&steps, "-- %d --\ncall bash: {\"command\":\"%s; echo %d >>count.txt; %s\"}\n", i+1, at("tick"), i+1, at("tick"))
	}
	steps.WriteString("-- 4 --\ntext: end\n")
	model := u.script(steps.String())
	u.file("t.jsonl", fmt.Sprintf(`{"id":"a","repo":%q,"prompt":"x","check":"test -e count.txt"}
{"id":"b","repo":%[1]q,"command":%q}
{"id":"c","repo":%[1]q,"prompt":"y","branch":"c"}
`, repo, at("tick")+"; echo once >>once.txt; "+at("tick")))
	u.env = append(u.env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for {
		killAt := 0
		if kills < min(most, 4) {
			killAt = u.ticks(at("ticks")) + 1 + random.IntN(60)
		}
		if err := os.WriteFile(at("killat"), []byte(strconv.Itoa(killAt)), 0o600); err != nil {
			t.Fatal(err)
		}
		batch := u.command("batch", "t.jsonl", "--push", "--jobs", "2", "--keep", "all", "--", "--permission-mode", "yolo", model)
		cmd := exec.Command("sh", append([]string{"-c", `echo $$ >"$0"; exec "$@"`, at("pid")}, batch.Args...)...)
		cmd.Dir, cmd.Env = batch.Dir, batch.Env
		said, _ := cmd.CombinedOutput()
		if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			kills++
			continue
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 8 {
			t.Fatalf("exit code %d\n%s", code, said)
		}
		u.wantEachOnce(out, string(said))
		return kills
	}
}

func (u *user) ticks(path string) int {
	raw, _ := os.ReadFile(path) // none yet
	return strings.Count(string(raw), "\n")
}

// wantEachOnce checks what a batch left that was killed and went on.
func (u *user) wantEachOnce(out, said string) {
	u.t.Helper()
	all := u.batchResults(out)
	for _, id := range []string{"a", "b", "c"} {
		r := all[id]
		if len(r) != 1 || r[0].Cause != "done" {
			u.t.Fatalf("%s: %+v\n%s", id, r, said)
		}
		name, want := "count.txt", "1\n2\n3\n"
		if id == "b" {
			name, want = "once.txt", "once\n"
		}
		if got, err := os.ReadFile(filepath.Join(out, "work", id, "repository", name)); string(got) != want {
			u.t.Errorf("%s: %s is %q, %v", id, name, got, err)
		}
	}
	if at := inGit(u.t, filepath.Join(u.home, "repos", "r"), "rev-parse", "c"); at != all["c"][0].Pushed {
		u.t.Errorf("pushed %q, the result says %q", at, all["c"][0].Pushed)
	}
	deadline := time.Now().Add(patience)
	for left := "?"; left != ""; {
		if left = runningBelow(out); time.Now().After(deadline) {
			u.t.Fatalf("left running:\n%s", left)
		}
	}
	u.run("sessions", "verify", "--all").wants(0)
}

// runningBelow lists processes that work in a folder or below it.
func runningBelow(dir string) string {
	var left []string
	found, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range found {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			left = append(left, link+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return strings.Join(left, "\n")
}
