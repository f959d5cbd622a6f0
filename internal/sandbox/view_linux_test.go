package sandbox_test

import (
	"bufio"
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

// within runs a script whose changes are applied when it has ended.
func (b *bench) apart(script string) proc.Result {
	b.t.Helper()
	r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
		Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Transaction: true, Timeout: time.Minute,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func newViewBench(t testing.TB, means ...sandbox.Technique) *bench {
	if len(means) == 0 {
		means = []sandbox.Technique{sandbox.Namespaces}
	}
	b := newBench(t, means...)
	if r := b.apart("grep -q ' " + b.work + " .* overlay ' /proc/self/mountinfo"); r.Code != 0 {
		t.Skip("this machine makes no overlays for users:", r.Output.Head)
	}
	return b
}

func (b *bench) read(name string) string {
	data, err := os.ReadFile(filepath.Join(b.work, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.work, b.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestChangesAreAppliedWhenACommandHasEnded(t *testing.T) {
	b := newViewBench(t)
	b.write("work/old", "old\n")
	b.write("work/gone", "gone\n")
	b.write("work/dir/a", "a\n")
	b.write("work/tree/x/y", "y\n")
	r := b.apart("echo new > new; echo changed > old; rm gone; rm -r tree; mkdir tree; echo z > tree/z; chmod 750 dir; mv dir/a dir/b; ln -s old link; mkdir -p deep/er; echo 1 > deep/er/1; ln deep/er/1 deep/2; chmod 500 deep/er")
	if r.Code != 0 || len(r.Messages) > 0 {
		t.Fatalf("%+v", r)
	}
	for name, content := range map[string]string{"new": "new\n", "old": "changed\n", "dir/b": "a\n", "tree/z": "z\n", "link": "changed\n", "deep/er/1": "1\n", "deep/2": "1\n"} {
		if got := b.read(name); got != content {
			t.Errorf("%s: %q, want %q", name, got, content)
		}
	}
	for _, name := range []string{"gone", "tree/x", "dir/a"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if info, err := os.Stat(filepath.Join(b.work, "dir")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode of a folder: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(b.work, "deep/er")); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the mode of a new folder: %v, %v", info.Mode(), err)
	}
	b.box.Close()
	left, _ := filepath.Glob(filepath.Join(b.state, "sandbox/views/*/*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// meanwhile runs a script that says "ready" and waits; then the host does something, and the script
// goes on.
func (b *bench) meanwhile(script string, host func()) proc.Result {
	b.t.Helper()
	r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
		Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Transaction: true, Timeout: time.Minute,
		Talk: func(in io.WriteCloser, out io.Reader) {
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "ready" {
				b.t.Log(lines.Text())
			}
			host()
			_, _ = io.WriteString(in, "go\n")
			for lines.Scan() {
				b.t.Log(lines.Text())
			}
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if r.Code != 0 {
		b.t.Fatalf("exit code %d: %s", r.Code, r.Errors.Head)
	}
	return r
}

func TestWhatSomebodyElseChangedMeanwhileStays(t *testing.T) {
	b := newViewBench(t)
	for _, name := range []string{"both", "removed", "theirs", "ours", "same", "tree/a", "tree/b"} {
		b.write("work/"+name, "before\n")
	}
	r := b.meanwhile("echo ours > both; rm removed; echo ours > ours; echo same > same; rm -r tree; echo ours > new; mkdir made; echo ours > made/ours; echo ready; read x; echo ours >> both", func() {
		b.host("echo theirs > both; echo theirs > removed; echo theirs > theirs; echo same > same; echo theirs > tree/b; echo theirs > new; mkdir made; echo theirs > made/theirs")
	})
	for name, want := range map[string]string{
		"both": "theirs\n", "removed": "theirs\n", "theirs": "theirs\n", "ours": "ours\n", "same": "same\n", "tree/a": "before\n", "tree/b": "theirs\n", "new": "theirs\n",
		"made/ours": "ours\n", "made/theirs": "theirs\n",
	} {
		if got := b.read(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	told := strings.Join(r.Messages, "\n")
	for _, name := range []string{"both", "removed", "tree", "new"} {
		if !strings.Contains(told, filepath.Join(b.work, name)) {
			t.Errorf("%s is not told: %s", name, told)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(b.state, "sandbox/views/*/kept/*/both"))
	if len(kept) != 1 {
		t.Fatalf("kept: %v; told: %s", kept, told)
	}
	if data, err := os.ReadFile(kept[0]); string(data) != "ours\nours\n" {
		t.Errorf("kept of both: %q, %v", data, err)
	}
}

// The attributes that a command sets on a folder are applied also where somebody else put a file into
// it meanwhile; where somebody else set others, those stay, and a note says so.
func TestAttributesOfAFolderThatChangesMeanwhile(t *testing.T) {
	b := newViewBench(t)
	b.write("work/filled/a", "a\n")
	b.write("work/dressed/a", "a\n")
	r := b.meanwhile("chmod 700 filled dressed; echo ready; read x", func() {
		b.host("echo theirs > filled/theirs; chmod 711 dressed")
	})
	for name, want := range map[string]os.FileMode{"filled": 0o700, "dressed": 0o711} {
		if info, err := os.Stat(filepath.Join(b.work, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "dressed: somebody else changed its attributes") || strings.Contains(notes, "filled:") {
		t.Errorf("notes: %s", notes)
	}
}

// TestNothingThatOtherProgramsRunIsApplied plants in every way that today's walls did not hold, and
// asks real git outside.
func TestNothingThatOtherProgramsRunIsApplied(t *testing.T) {
	plant := `git init -q %[1]s && git -C %[1]s config core.fsmonitor 'touch ` + "$PROOF" + `; false'`
	for name, c := range map[string]struct{ before, script, after string }{
		"a submodule that cannot be searched": {"", strings.ReplaceAll(plant, "%[1]s", "n") + "; git -C n commit -q --allow-empty -m x; git update-index --add --cacheinfo 160000,$(git -C n rev-parse HEAD),n; chmod 0311 n", "chmod 755 n 2>/dev/null; git status; cd n && git status"},
		"a repository in a renamed folder":    {"mkdir d; echo x > d/f; git add d; git commit -qm d", strings.ReplaceAll(plant, "%[1]s", "x") + "; mv d e; mv x d", "cd d && git status"},
		"a bare one":                          {"", "git init -q --bare x && git -C x config core.fsmonitor 'touch $PROOF; false' && git -C x config core.bare false && git -C x config core.worktree ..", "cd x && git status"},
		"commondir alone":                     {"", "mkdir -p real x; git init -q real; mv real/.git g; rmdir real; git -C g config core.fsmonitor 'touch $PROOF; false' 2>/dev/null || git config -f g/config core.fsmonitor 'touch $PROOF; false'; cp g/HEAD x/HEAD; echo ../g > x/commondir", "cd x && git --work-tree=.. status"},
		"a file that leads elsewhere":         {"", "mkdir s; git init -q --bare g; git config -f g/config core.bare false; git config -f g/config core.fsmonitor 'touch $PROOF; false'; echo 'gitdir: ../g' > s/.git", "cd s && git status"},
		"hooks that a setting names":          {"mkdir .husky; echo true > .husky/pre-commit; chmod +x .husky/pre-commit; git config core.hooksPath .husky", "echo 'touch $PROOF' > .husky/pre-commit", "git commit -qm x --allow-empty"},
		"hooks that are not there yet":        {"git config core.hooksPath .hooks", "mkdir .hooks; printf '#!/bin/sh\ntouch $PROOF' > .hooks/pre-commit; chmod +x .hooks/pre-commit", "git commit -qm x --allow-empty"},
		"a file that is included":             {"git config include.path ../team.config; echo > team.config", "printf '[core]\nfsmonitor = \"touch $PROOF; false\"\n' > team.config", "git status"},
		"the script of a filter":              {"mkdir t; printf '#!/bin/sh\ncat' > t/clean; chmod +x t/clean; git config filter.f.clean t/clean; echo '* filter=f' > .gitattributes; git add .; git commit -qm f", "printf '#!/bin/sh\ntouch $PROOF; cat' > t/clean; echo more >> file", "git add file; git status"},
		"hooks by a swapped folder":           {"mkdir hk; printf '#!/bin/sh\ntrue' > hk/pre-commit; chmod +x hk/pre-commit; git config core.hooksPath hk", "mv hk old; mkdir hk; printf '#!/bin/sh\ntouch $PROOF' > hk/pre-commit; chmod +x hk/pre-commit", "git commit -qm x --allow-empty"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newViewBench(t)
			proof := filepath.Join(b.home, "proof")
			b.host("git init -q -b main .; echo a > file; git add .; git commit -qm a")
			if c.before != "" {
				b.host(c.before)
			}
			r := b.apart(strings.ReplaceAll(c.script, "$PROOF", proof))
			cmd := exec.Command("bash", "-c", c.after+"; cd "+b.work+" && git status; true")
			cmd.Dir, cmd.Env = b.work, b.env()
			out, _ := cmd.CombinedOutput()
			if _, err := os.Lstat(proof); err == nil {
				t.Errorf("it ran outside; %q\n%s", r.Messages, out)
			}
			if len(r.Messages) == 0 {
				t.Errorf("nothing is told: %+v\n%s", r, out)
			}
		})
	}
}

func TestFilesOfNoGoodAreNotApplied(t *testing.T) {
	b := newViewBench(t)
	b.write("work/pkg/a", "a\n")
	b.write("work/vendor/x", "x\n")
	r := b.apart(`mkdir -p pkg/.vscode sub/.Codex; echo {} > pkg/.vscode/tasks.json; echo {} > pkg/.devcontainer.json; echo x > sub/.Codex/c; mkfifo fifo
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'; ls -l su
		ln -s /etc/passwd out; ln -s ../../x up; ln -s pkg/../../x through; ln -s pkg/a in; ln -s ../pkg/a pkg/in; ln -s /usr/bin/python3 python; mkdir -p pkg/new; ln -s ../../../x pkg/new/up; echo ok > pkg/new/ok`)
	if r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"pkg/.vscode", "pkg/.devcontainer.json", "sub/.Codex", "fifo", "sock", "out", "up", "through", "pkg/new/up"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err == nil {
			t.Errorf("%s was applied: %s", name, r.Output.Head)
		}
		if told := strings.Join(r.Messages, "\n"); !strings.Contains(told, name) {
			t.Errorf("%s is not told: %s", name, told)
		}
	}
	for _, name := range []string{"in", "pkg/in", "python", "pkg/new/ok", "sub"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestARuleKeepsChangesOut(t *testing.T) {
	b := newBench(t, sandbox.Namespaces)
	b.write("work/vendor/x", "x\n")
	b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Techniques: []sandbox.Technique{sandbox.Namespaces},
		Denied: func(path string) string {
			if strings.HasPrefix(path, filepath.Join(b.work, "vendor")+"/") {
				return "a rule denies it"
			}
			return ""
		}})
	t.Cleanup(b.box.Close)
	for _, script := range []string{"echo y > vendor/x", "rm -r vendor", "mv vendor other; mkdir vendor; echo z > vendor/x", "rm vendor/x"} {
		if r := b.apart(script); r.Code != 0 || len(r.Messages) == 0 {
			t.Errorf("%s: %+v", script, r)
		}
		if got := b.read("vendor/x"); got != "x\n" {
			t.Errorf("%s: %q", script, got)
		}
	}
}

func TestGitWorksInAView(t *testing.T) {
	b := newViewBench(t)
	b.host("git init -q -b main .; mkdir d; echo a > d/file; git add .; git commit -qm first")
	for _, script := range []string{
		"echo b >> d/file; git commit -qam second", "git checkout -q -b topic; echo c > new; git add new; git commit -qm third", "git checkout -q main; git merge -q --no-ff -m merged topic",
		"git branch -d topic", "git tag v1; git gc -q", "git stash list; echo x >> d/file; git stash -q; git stash pop -q; git checkout -q d/file", "git rebase -q HEAD~1; git reset -q --hard HEAD", "git init -q sub; git -C sub commit -q --allow-empty -m nested",
		"git worktree add -q wt -b other; cd wt; echo w > w; git add w; git commit -qm w",
	} {
		if r := b.apart(script); r.Code != 0 || len(r.Messages) > 0 {
			t.Fatalf("%s: code %d, told %q\n%s", script, r.Code, r.Messages, r.Output.Head)
		}
		b.git("fsck", "--strict")
		if left := b.git("status", "--porcelain", "--", "d"); left != "" {
			t.Fatalf("%s: %s", script, left)
		}
	}
	if got := b.git("log", "--format=%s", "-1", "other"); got != "w" {
		t.Error(got)
	}
}

func TestARepositoryThatTwoUseIsJoined(t *testing.T) {
	b := newViewBench(t)
	b.host("git init -q -b main .; echo a > a; echo b > b; git add .; git commit -qm first; touch -d '2001-01-01' b")
	commit := "echo ours >> a; git add a; echo ready; read x; git commit -qm ours"
	if r := b.meanwhile(commit, func() { b.host("git status >/dev/null") }); len(r.Messages) > 0 {
		t.Errorf("an index that was refreshed: %q", r.Messages)
	}
	if got := b.git("log", "--format=%s", "-1"); got != "ours" || b.git("status", "--porcelain") != "" {
		t.Errorf("%s; %s", got, b.git("status", "--porcelain"))
	}
	r := b.meanwhile(commit, func() { b.host("echo theirs >> b; git commit -qam theirs") })
	if len(r.Messages) != 1 || !strings.Contains(r.Messages[0], "refs/heads/main") {
		t.Errorf("two commits: %q", r.Messages)
	}
	if got := b.git("log", "--format=%s", "-2"); got != "theirs\nours" {
		t.Error(got)
	}
	b.git("fsck", "--strict")
	if got := b.git("fsck", "--unreachable", "--no-reflogs"); !strings.Contains(got, "unreachable commit") {
		t.Errorf("the commit of the command is gone: %s", got)
	}
	b.host("touch .git/refs/heads/other.lock")
	if got := b.git("status", "--porcelain"); got != "M a" {
		t.Errorf("the work tree after two commits: %q", got)
	}
}

func TestALinkedWorkTreeKeepsItsRepository(t *testing.T) {
	b := newViewBench(t)
	main := filepath.Join(b.home, "main")
	b.host("git init -q -b main ../main; cd ../main; git commit -q --allow-empty -m a; rmdir " + b.work + "; git worktree add -q " + b.work + " -b topic")
	b.box = b.sandbox(sandbox.Namespaces)
	proof := filepath.Join(b.home, "proof")
	if r := b.apart("echo x > x; git add x; git commit -qm topic"); r.Code != 0 || len(r.Messages) > 0 {
		t.Fatalf("%+v", r)
	}
	if got := b.git("log", "--format=%s", "-1"); got != "topic" {
		t.Error(got)
	}
	r := b.apart("git config -f " + main + "/.git/config.worktree core.fsmonitor 'touch " + proof + "; false'; mkdir evil; cp " + main + "/.git/HEAD evil; echo evil > " + main + "/.git/commondir; git config extensions.worktreeConfig true")
	for _, name := range []string{"config.worktree", "commondir"} {
		if _, err := os.Lstat(filepath.Join(main, ".git", name)); err == nil {
			t.Errorf("%s was applied: %s", name, r.Output.Head)
		}
		if !strings.Contains(strings.Join(r.Messages, " "), name) {
			t.Errorf("%s is not told: %q", name, r.Messages)
		}
	}
	b.git("status")
	b.git("-C", main, "status")
	if _, err := os.Lstat(proof); err == nil {
		t.Error("it ran outside")
	}
}

func TestAMountInTheWorkspaceMeansNoView(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts")
	}
	b := newViewBench(t)
	b.host("mkdir m; mount -t tmpfs none m && echo x > m/x")
	t.Cleanup(func() { b.host("umount m") })
	if r := b.apart("cat m/x; echo y > m/y"); r.Code != 0 || b.read("m/y") != "y\n" {
		t.Errorf("%+v", r)
	}
}

func TestAKilledSupervisorLeavesNoCommandBehind(t *testing.T) {
	b := newViewBench(t)
	r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
		Argv: []string{"bash", "-c", "echo x > x; (while :; do echo y >> y; done) & sleep 60"}, Dir: b.work, Env: b.env(), Transaction: true, Timeout: 300 * time.Millisecond,
	})
	if err != nil || r.Killed != proc.Timeout {
		t.Fatalf("%+v, %v", r, err)
	}
	if b.read("x") != "x\n" {
		t.Error("what a command did before its time was over is gone")
	}
}

func TestOddFilesKeepWhatTheyAre(t *testing.T) {
	b := newViewBench(t)
	b.write("work/closed/in/a", "a\n")
	b.write("work/same", "same\n")
	b.host("ln same twin; touch -d 2001-01-01 same; chmod 750 closed/in; printf '#!/bin/sh\n' > run; chmod 755 run")
	before, err := os.Stat(filepath.Join(b.work, "same"))
	if err != nil {
		t.Fatal(err)
	}
	r := b.apart(`python3 - <<'EOF'
import os
os.close(os.open("same", os.O_RDWR))   # opened for writing and left as it was
f = open("holes", "wb"); f.seek(1 << 30); f.write(b"x"); f.close()
open("with", "w").write("x"); os.setxattr("with", "user.note", b"kept")
open("écrit ü\n1", "w").write("x")
EOF
touch -d 2002-02-02 dated; mkdir -p locked/sub; echo x > locked/sub/x; chmod 000 locked/sub; chmod 555 locked; echo more >> run; mv closed open; chmod 700 open/in`)
	if r.Code != 0 || len(r.Messages) > 0 {
		t.Fatalf("%+v", r)
	}
	if after, err := os.Stat(filepath.Join(b.work, "same")); err != nil || !os.SameFile(before, after) {
		t.Error("a file that was not changed was replaced")
	}
	b.host(`test $(stat -c %b holes) -lt 100 && test $(stat -c %s holes) = 1073741825 && test $(stat -c %a locked/sub) = 0 && test $(stat -c %a locked) = 555 && test $(date -r dated +%Y) = 2002 && test -x run &&
		test $(stat -c %a open/in) = 700 && ! test -e closed && test -e "$(printf 'écrit ü\n1')" && python3 -c 'import os; assert os.getxattr("with", "user.note") == b"kept"; assert not [n for n in os.listxattr("run") if "overlay" in n]'`)
	b.host("chmod 755 locked locked/sub")
}

func TestFoldersOfAnotherGroupMeanNoView(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root knows all groups")
	}
	groups, _ := os.Getgroups()
	other := -1
	for _, g := range groups {
		if g != os.Getegid() {
			other = g
		}
	}
	if other < 0 {
		t.Skip("this user is in one group")
	}
	b := newBench(t, sandbox.Namespaces)
	b.write("work/shared/file", "x\n")
	if err := os.Chown(filepath.Join(b.work, "shared"), -1, other); err != nil {
		t.Fatal(err)
	}
	if r := b.apart("echo y >> shared/file; echo z > shared/new"); r.Code != 0 || b.read("shared/new") != "z\n" {
		t.Errorf("%+v", r)
	}
}

func TestAFolderIsRenamedInAView(t *testing.T) {
	b := newViewBench(t)
	b.host("git init -q -b main .; mkdir -p old/sub/deep empty full; echo a > old/a; echo b > old/sub/deep/b; echo f > full/f; ln old/a old/twin; chmod 750 old/sub; touch -d 2001-01-01 old/sub; ln -s a old/link; git add .; git commit -qm a")
	r := b.apart(`set -e; git mv old new; test "$(cat new/sub/deep/b)" = b; test ! -e old
python3 - <<'EOF'
import os, errno
os.rename("new", "empty")                  # an empty folder gives way
assert os.path.samefile("empty/a", "empty/twin") or True
try: os.rename("empty", "full"); assert False
except OSError as e: assert e.errno in (errno.ENOTEMPTY, errno.EEXIST), e
try: os.rename("empty", "empty/sub/x"); assert False
except OSError as e: assert e.errno == errno.EINVAL, e
fd = os.open("empty", os.O_RDONLY)
os.rename("sub", "up", src_dir_fd=fd)      # relative to the folder of a descriptor
os.makedirs("made/x"); os.rename("made", "moved")
EOF
git add -A; git commit -qm b; git status --porcelain`)
	if r.Code != 0 || len(r.Messages) > 0 {
		t.Fatalf("%+v", r)
	}
	b.host("test $(stat -c %a up) = 750 && test $(date -r up +%Y) = 2001 && test $(cat up/deep/b) = b && test $(readlink empty/link) = a && test -d moved/x && ! test -e old && ! test -e new && test -z \"$(git status --porcelain)\"")
}

// A command that goes on as a job after its time keeps its view: its changes are applied when it
// ends, by itself or not, but for those that a user would have been asked about.
func TestChangesOfACommandThatGoesOnAreAppliedWhenItEnds(t *testing.T) {
	b := newViewBench(t)
	jobs := proc.NewJobs(proc.Supervisor{Cage: b.box})
	defer jobs.Close()
	for _, end := range []func(proc.JobStatus){
		func(st proc.JobStatus) {
			_ = syscall.Kill(st.PID, syscall.SIGUSR1)
			_, _ = jobs.Wait(t.Context(), st.ID)
		},
		func(st proc.JobStatus) { _, _ = jobs.Kill(st.ID) },
	} {
		script := "echo 1 > made; mkdir -p pkg/.vscode; echo x > pkg/.vscode/tasks.json; trap 'echo 2 >> made; exit' USR1; echo up; while :; do :; done"
		_, late, err := jobs.Run(t.Context(), script, proc.Command{
			Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Transaction: true, ReviewChanges: true, Timeout: time.Second,
		}, nil)
		if err != nil || late == nil || !late.Job.Apart || late.Output.Head != "up\n" {
			t.Fatalf("%+v, %v", late, err)
		}
		if got := b.read("made"); !strings.Contains(got, "no such file") {
			t.Errorf("it is there while the command runs: %q", got)
		}
		end(late.Job)
		if got := b.read("made"); !strings.HasPrefix(got, "1\n") {
			t.Errorf("%q is what it made", got)
		}
		if _, err := os.Stat(filepath.Join(b.work, "pkg/.vscode/tasks.json")); err == nil {
			t.Error("what a user decides about was applied")
		}
		st, _, _ := jobs.Read(late.Job.ID)
		if st.Result.Pending != nil || len(st.Result.Denied) == 0 {
			t.Errorf("%+v", st.Result)
		}
		_ = os.Remove(filepath.Join(b.work, "made"))
	}
}

// A disk that is full while changes are applied takes back those that were, and the call fails.
func TestAFullDiskTakesChangesBack(t *testing.T) {
	b := newViewBench(t)
	if err := syscall.Mount("none", b.work, "tmpfs", 0, "size=512k"); err != nil {
		t.Skip("no small file system can be mounted: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(b.work, syscall.MNT_DETACH) })
	b.write("work/changed", "before\n")
	b.write("work/gone", "before\n")
	b.box = b.sandbox(sandbox.Namespaces)
	r := b.apart("echo after > changed; rm gone; echo new > aa; head -c 1000000 /dev/zero > big; mv changed zz; cp zz changed")
	if r.Failed == "" || !strings.Contains(strings.Join(r.Messages, "\n"), "no room on the disk") {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"changed", "gone"} {
		if got := b.read(name); got != "before\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	entries, _ := os.ReadDir(b.work)
	if len(entries) != 2 {
		t.Errorf("there is left: %v", entries)
	}
	if kept, _ := filepath.Glob(filepath.Join(b.state, "sandbox/views/*/kept/*/aa")); len(kept) != 1 {
		t.Errorf("kept: %v; told: %v", kept, r.Messages)
	}
}
