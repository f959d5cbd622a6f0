package sandbox_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// job is a command that goes on beyond its call. It reads a line before it does more, and says a
// word when it has done that.
type job struct {
	*proc.Process
	in io.WriteCloser
	t  testing.TB
}

// background starts a script as a job: what it reads comes from say.
func (b *bench) background(script string) *job {
	b.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	fifo := make(chan io.WriteCloser, 1)
	p, err := proc.Supervisor{Cage: b.box}.Start(context.Background(), proc.Command{
		Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Linger: true,
		Talk: func(in io.WriteCloser, out io.Reader) { fifo <- in; _, _ = io.Copy(w, out); _ = w.Close() },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	j := &job{Process: p, in: <-fifo, t: b.t}
	lines := make(chan string)
	go func() {
		defer close(lines)
		buf := make([]byte, 4096)
		for {
			n, err := r.Read(buf)
			if err != nil {
				return
			}
			for line := range strings.Lines(string(buf[:n])) {
				lines <- strings.TrimSpace(line)
			}
		}
	}()
	b.t.Cleanup(func() {
		j.End(proc.Aborted)
		go func() {
			for range lines {
			}
		}()
		j.Wait()
	})
	j.await(lines, "ready")
	return j
}

func (j *job) await(lines chan string, word string) {
	j.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-lines:
			if line == word {
				go func() {
					for range lines {
					}
				}()
				return
			}
			if !ok {
				j.t.Fatalf("the job ended before it said %s", word)
			}
			j.t.Log(line)
		case <-late:
			j.t.Fatalf("the job did not say %s", word)
		}
	}
}

// end lets a job go on to its end.
func (j *job) end() proc.Result {
	_, _ = io.WriteString(j.in, "go\n")
	_ = j.in.Close()
	return j.Wait()
}

// live are the means that let commands work on the live tree.
func live(t *testing.T, run func(t *testing.T, b *bench)) {
	need(t, "git")
	for _, means := range withMeans(sandbox.Namespaces) {
		t.Run(string(means), func(t *testing.T) { run(t, newViewBench(t, means)) })
	}
}

// looks is an editor's look at a repository, outside: it reports whether that ran what was planted.
func (b *bench) looks(dirs ...string) {
	b.t.Helper()
	for _, dir := range append(dirs, ".") {
		b.host("git -C " + dir + " status --porcelain >/dev/null 2>&1; git -C " + dir + " diff --quiet >/dev/null 2>&1; true")
	}
	if out, _ := filepath.Glob(filepath.Join(b.top, "ran*")); len(out) > 0 {
		b.t.Errorf("a program ran outside: %s", out)
	}
}

// A job reads the repository, and cannot change it.
func TestAJobReadsTheRepository(t *testing.T) {
	live(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && echo a > a && git add a && git commit -qm first")
		j := b.background("echo b > b; git add b 2>/dev/null || git status --porcelain > seen; git commit -qam second 2>/dev/null || git log --oneline >> seen; echo ready; read x")
		if got := b.read("seen"); !strings.Contains(got, "?? b") || !strings.Contains(got, "first") || b.git("rev-list", "--count", "HEAD") != "1" {
			t.Errorf("%q, %s", got, b.git("log"))
		}
		b.host("git add b && git commit -qm second")
		r := j.end()
		if len(r.Messages) > 0 || !strings.HasPrefix(r.Sandbox, "full, live (") {
			t.Errorf("%q %q", r.Sandbox, r.Messages)
		}
		if b.git("rev-list", "--count", "HEAD") != "2" || b.git("fsck") != "" {
			t.Error("the user's own commit is not there:", b.git("log"), b.git("status"))
		}
	})
}

func TestAWatcherSeesWhatOthersChange(t *testing.T) {
	need(t, "python3")
	live(t, func(t *testing.T, b *bench) {
		b.write("work/src/a", "a\n")
		j := b.background(`exec python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None); fd = libc.inotify_init(); libc.inotify_add_watch(fd, b"src", 0x88)
print("ready", flush=True); os.read(fd, 4096); open("seen", "w").write("yes"); sys.stdin.read()'`)
		if r := b.apart("echo b > src/a"); r.Code != 0 || !strings.HasPrefix(r.Sandbox, "full (") {
			t.Errorf("%+v", r)
		}
		for late := time.Now().Add(time.Minute); !b.there("seen"); {
			if time.Now().After(late) {
				t.Fatal("it was not told of a change")
			}
		}
		j.end()
	})
}

// What a job plants is never run by a git outside: while it runs, after its end, and when it was
// killed.
func TestWhatAJobPlantsIsNotRun(t *testing.T) {
	const program = `'touch ../ran;false'`
	for name, c := range map[string]struct{ before, plant string }{
		"a commondir":                     {"", `cp -r .git evil; git config -f evil/config core.fsmonitor ` + program + `; echo ../evil > .git/commondir`},
		"a setting":                       {"git config extensions.worktreeConfig true; ", `git config -f .git/config.worktree core.fsmonitor ` + program},
		"the settings made anew":          {"", `rm -f .git/config; mv .git/config x; printf '[core]\nfsmonitor = touch ../ran;false\n' > .git/config; touch .git/x`},
		"a submodule that cannot be read": {"", `git init -q n && git -C n commit -q --allow-empty -m n && git -C n config core.fsmonitor 'touch ../../ran;false'; git add n 2>&1; chmod 0311 n`},
		"a submodule that is not there yet": {"mkdir n; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n; ",
			`git init -q n && git -C n config core.fsmonitor 'touch ../../ran;false'; mv n m; git init -q n; git -C n config core.fsmonitor 'touch ../../ran;false'`},
		"a submodule whose folder is gone": {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n; ", `git init -q n && git -C n config core.fsmonitor 'touch ../../ran;false'`},
		"a nested repository":              {"git init -q n; ", `git -C n config core.fsmonitor 'touch ../../ran;false'; mv n/.git n/x; echo x > n/.git/commondir; mv n m`},
		"a hook":                           {"git config core.hooksPath .husky; mkdir .husky; ", `printf '#!/bin/sh\ntouch ../ran\n' > .husky/post-index-change; chmod +x .husky/post-index-change`},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, func(t *testing.T, b *bench) {
				b.host(identity + "git init -q . && git commit -q --allow-empty -m first;" + c.before)
				j := b.background("(" + c.plant + ") >/dev/null 2>&1; echo ready; read x")
				for range 5 {
					b.looks("n", "m")
				}
				r := j.end()
				for range 3 {
					b.looks("n", "m")
				}
				if t.Failed() {
					t.Log(r.Messages)
				}
			})
		})
	}
}

// The same beside a job: a command in a view stages a submodule, in whose place the job makes a
// repository.
func TestACommandStagesNoSubmoduleBesideAJob(t *testing.T) {
	live(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && git commit -q --allow-empty -m first")
		j := b.background("git init -q n && git -C n config core.fsmonitor 'touch ../../ran;false'; echo ready; read x")
		r := b.apart("git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),n && echo a > a && git add a")
		b.looks()
		if !strings.Contains(strings.Join(r.Messages, "\n"), ".git/index") || b.read("a") != "a\n" {
			t.Errorf("told %q", r.Messages)
		}
		j.end()
		b.looks()
		if r := b.apart("git add a && git commit -qm a"); r.Code != 0 || len(r.Messages) > 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestTheUsersOwnSettingsStay(t *testing.T) {
	live(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && git commit -q --allow-empty -m first")
		j := b.background("echo ready; read x; echo '[core]\nfsmonitor = touch ../ran' >> .git/config; git config core.fsmonitor 'touch ../ran;false'; echo 1 > .envrc; true")
		b.host("git config user.name me; git config core.pager less")
		j.end()
		b.looks()
		if b.git("config", "user.name") != "me" || strings.Contains(b.read(".git/config"), "fsmonitor") {
			t.Error(b.read(".git/config"))
		}
	})
}

func TestWhatAJobLeavesForOtherProgramsIsTold(t *testing.T) {
	live(t, func(t *testing.T, b *bench) {
		b.write("work/pkg/.vscode/tasks.json", "{}\n")
		b.write("work/old/.vscode/tasks.json", "{}\n")
		b.host("ln -s /etc old/etc; sleep 0.1")
		r := b.background("echo '{1}' > pkg/.vscode/tasks.json; mkdir new; echo 1 > new/.devcontainer.json; ln -s /etc/passwd out; ln -s pkg in; echo ready; read x").end()
		told := strings.Join(r.Messages, "\n")
		if got := b.read("pkg/.vscode/tasks.json"); got != "{}\n" {
			t.Errorf("what was there was changed: %q", got)
		}
		for _, name := range []string{"new/.devcontainer.json", "work/out"} {
			if !strings.Contains(told, name) {
				t.Errorf("%s is not told: %s", name, told)
			}
		}
		if strings.Contains(told, "work/in") || strings.Contains(told, "old/") {
			t.Error("told of what is no danger, or was there:", told)
		}
	})
}

func TestLiveAsAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "^(TestAJobReadsTheRepository|TestAWatcherSeesWhatOthersChange|TestWhatAJobPlantsIsNotRun|TestACommandStagesNoSubmoduleBesideAJob|TestTheUsersOwnSettingsStay|TestWhatAJobLeavesForOtherProgramsIsTold)$")
}

// killedIn is the variable by which a test starts this program again, to be killed with its job.
const killedIn = "ADZE_TEST_KILLED_IN"

// The next start tells what a job planted, where adze was killed with it.
func TestWhatAJobLeftIsToldAfterAKill(t *testing.T) {
	if top := os.Getenv(killedIn); top != "" {
		b := &bench{t: t, top: top, home: filepath.Join(top, "home"), work: filepath.Join(top, "home", "work"), state: filepath.Join(top, "state")}
		b.box = b.sandbox(sandbox.Namespaces)
		b.background("git init -q sub; printf '#!/bin/sh\\ntouch ran\\n' > sub/.git/hooks/post-index-change; chmod +x sub/.git/hooks/post-index-change; echo x > .npmrc; echo ready; read x")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	need(t, "git")
	b := newViewBench(t)
	b.host("git init -q own; git -C own config alias.x '!true'")
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestWhatAJobLeftIsToldAfterAKill$")
	cmd.Env = append(os.Environ(), killedIn+"="+b.top)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v\n%s", err, out)
	}
	told, err := b.sandbox(sandbox.Namespaces).Recover()
	text := strings.Join(told, "\n")
	if err != nil || !strings.Contains(text, "sub/.git would make git run programs") || !strings.Contains(text, "hook post-index-change") || !strings.Contains(text, ".npmrc (other programs act") || strings.Contains(text, "own") {
		t.Errorf("%v: %q", err, text)
	}
	if again, err := b.sandbox(sandbox.Namespaces).Recover(); err != nil || len(again) > 0 {
		t.Errorf("it is told twice: %v, %q", err, again)
	}
	if !b.there("sub/.git/hooks/post-index-change") {
		t.Error("what may be the user's by now is gone")
	}
}

// A job does not change what git runs by its settings, whether it is there or not.
func TestAJobDoesNotChangeWhatASettingNames(t *testing.T) {
	live(t, func(t *testing.T, b *bench) {
		b.host("git init -q .; git config core.hooksPath tools/hooks; git config diff.x.textconv ./show.sh; mkdir -p tools/hooks; echo true | tee tools/hooks/pre-commit show.sh; git init -q nested; git -C nested config core.hooksPath ../later")
		j := b.background("echo ready; read x; { echo payload > tools/hooks/pre-commit; echo payload > show.sh; echo payload > tools/hooks/post-commit; mkdir -p later; echo payload > later/pre-commit; } 2>/dev/null; echo ok > tools/other")
		j.end()
		for name, want := range map[string]string{"tools/hooks/pre-commit": "true\n", "show.sh": "true\n", "tools/other": "ok\n"} {
			if got := b.read(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		for _, name := range []string{"tools/hooks/post-commit", "later/pre-commit"} {
			if b.there(name) {
				t.Errorf("%s was made", name)
			}
		}
	})
}
