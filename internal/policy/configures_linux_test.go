package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
	"adze/tool"
)

// TestGitThatConfiguresIsKnown runs git as people do, outside and in the sandbox: what works
// outside and inside fails, or ends well and has left the configuration as it was, is asked for
// before it runs, and nothing else is.
func TestGitThatConfiguresIsKnown(t *testing.T) {
	t.Parallel()
	y := newYardIn(t, cagedRoom(), nil, nil)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	g := gitInACage{y: y, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.root + "/home", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0"}}
	g.box = sandbox.New(sandbox.Options{Workspace: y.work, Home: y.root + "/home", State: y.root + "/state", OwnPaths: []string{y.root + "/state"}})
	t.Cleanup(g.box.Close)
	if report, err := g.box.Level(t.Context()); err != nil || report.Level != sandbox.Full {
		t.Skipf("this machine has no full sandbox: %v %s", err, report.Explanation)
	}
	g.outside(t, `git init -q -b main . && git commit -q --allow-empty -m 1 && git init -q --bare remote.git && git remote add origin ./remote.git && git push -q origin main &&
git checkout -q -b old && git branch topic && git push -q origin topic && git commit -q --allow-empty -m 2 && git checkout -q main && git fetch -q origin && mkdir ../kept && cp -a . ../kept/`)
	p := yardPolicy(t, y, Auto)
	p.options.Contained = func(bool) (string, bool) { return "full", true }
	commands := strings.Split(`git status|git log -1|git add -A|git commit -q --allow-empty -m x|git commit -q --allow-empty -m "git remote add x y"|git tag t|git stash list|git branch new|git branch -d topic|git branch -D old|git branch -a
git branch -vv|git checkout -q old|git checkout -q -b new|git switch -q -c new|git switch -q old|git merge -q old|git rebase -q old|git cherry-pick --allow-empty old|git reset -q --soft HEAD|git restore .|git fetch -q origin|git fetch -q --all --prune
git remote -v|git remote show origin|git remote get-url origin|git remote update|git remote prune origin|git config user.name|git config --get remote.origin.url|git config --list|git config get remote.origin.url|git config -f my.cfg a.b c|git push -q origin old
git remote add other ./remote.git|git remote remove origin|git remote rename origin up|git remote set-url origin ./x.git|git config user.name Me|git config --add a.b c|git config --unset remote.origin.url|git config --global user.name Me|git config set a.b c
git config --replace-all remote.origin.url x|git config --remove-section remote.origin|git push -q -u origin old|git push -q --set-upstream origin old|git branch -u origin/main|git branch --set-upstream-to=origin/main|git branch -m old older|git branch -M main trunk
git checkout -q -b new origin/topic|git checkout -q -t -b new origin/topic|git switch -q -c new --track origin/topic|git init -q|git init -q .|git init -q fresh|git clone -q . copy|git sparse-checkout set sub|cd . && git -C . remote add other x`, "|")
	flagged := 0
	for i, line := range strings.Split(strings.Join(commands, "\n"), "\n") {
		v := p.judge(Auto, tool.Need{Permission: tool.Execute, Target: line, Sandboxed: true})
		asks := v.run != nil && v.run.Leaves != ""
		if asks {
			flagged++
		}
		if !effort.Is(effort.Long) && i%5 != 3 {
			continue
		}
		inside := g.inside(t, line)
		left := g.configuration()
		outside := g.outside(t, line)
		if outside != nil {
			continue // this git knows no such command
		}
		if wants := inside != nil || left != g.configuration(); asks != wants {
			t.Errorf("%s: asked for before: %v; inside it ends with %v, and the configuration is\n%s\nnot\n%s", line, asks, inside, left, g.configuration())
		}
	}
	if flagged < 10 {
		t.Error("too few say anything")
	}
}

// gitInACage runs commands upon a repository that is as it was before each.
type gitInACage struct {
	y   *yard
	box *sandbox.Sandbox
	env []string
}

func (g gitInACage) reset(t *testing.T) {
	t.Helper()
	kept := filepath.Join(g.y.root, "kept")
	if _, err := os.Stat(kept); err != nil {
		return // it is made now
	}
	left, err := os.ReadDir(g.y.work)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left { // a placeholder of the sandbox may go meanwhile: find -delete would fail on it
		if err := os.RemoveAll(filepath.Join(g.y.work, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("sh", "-c", `cd "$0" && cp -a ../kept/. . && rm -f ../home/.gitconfig`, g.y.work).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// configuration is what git would read.
func (g gitInACage) configuration() string {
	repository, _ := os.ReadFile(filepath.Join(g.y.work, ".git", "config"))
	person, _ := os.ReadFile(filepath.Join(g.y.root, "home", ".gitconfig"))
	return string(repository) + string(person)
}

func (g gitInACage) outside(t *testing.T, line string) error {
	t.Helper()
	g.reset(t)
	cmd := exec.Command(g.y.bash, "-c", line)
	cmd.Dir, cmd.Env = g.y.work, g.env
	return cmd.Run()
}

func (g gitInACage) inside(t *testing.T, line string) error {
	t.Helper()
	g.box.Close()
	g.reset(t)
	r, err := proc.Supervisor{Cage: g.box}.Run(t.Context(), proc.Command{Argv: []string{g.y.bash, "-c", line}, Dir: g.y.work, Env: g.env, Transaction: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Err()
}
