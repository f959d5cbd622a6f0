package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
	"adze/tool"
)

// What mode auto lets run because the sandbox holds it is run in that sandbox, made by each means
// of this machine: whatever the lines are, nothing outside of what they may write has changed, and
// neither has what is protected in the workspace.
//
//	ADZE_TESTS=long ADZE_SEED=7 go test -timeout 2h -run CagedLines ./internal/policy
const (
	cagedLines = 45  // made with the other tests
	cagedBatch = 100 // share one sandbox
)

func TestCagedLinesStayInTheSandbox(t *testing.T) {
	t.Parallel()
	for _, means := range []sandbox.Technique{sandbox.Namespaces, sandbox.Landlock} {
		t.Run(string(means), func(t *testing.T) {
			y := newYardIn(t, cagedRoom(), []string{"go", "npm", "zap", "evil"}, append(usualPrograms(), "rm", "rmdir", "git", "mkfifo", "truncate", "install"))
			c := &cagedYard{yard: y, means: means, box: sandbox.New(sandbox.Options{Workspace: y.work, Home: y.root + "/home", State: y.root + "/state",
				OwnPaths: []string{y.root + "/state"}, Techniques: []sandbox.Technique{means}})}
			t.Cleanup(c.box.Close)
			c.keep(t)
			report, err := c.box.Level(t.Context())
			if err != nil || report.Technique != means {
				t.Skipf("this machine has none of this kind: %v %s", err, report.Explanation)
			}
			lines := c.allowed(t, newCagedLines(t), effort.Rounds(cagedLines, 2*cagedLines, 200*cagedLines))
			for batch := range slices.Chunk(lines, cagedBatch) {
				c.hold(t, batch)
			}
			t.Logf("%d lines run in a sandbox that is %s", len(lines), report.Level)
			if len(lines) < cagedLines/4 {
				t.Error("too few lines were allowed to say anything")
			}
		})
	}
}

// cagedRoom is a folder that commands can see and not write; in /tmp they have one of their own.
func cagedRoom() string {
	for _, dir := range []string{"/var/lib", "/srv"} {
		if f, err := os.CreateTemp(dir, "room"); err == nil {
			f.Close()
			_ = os.Remove(f.Name())
			return dir
		}
	}
	return ""
}

// newCagedLines are those of the other tests, and such as want out.
func newCagedLines(t *testing.T) *lineMaker {
	g := newJudgedLines(t)
	g.Rand = rand.New(rand.NewPCG(effort.Seed(t, 1), 13))
	g.commands = append(g.commands, strings.Split(`rm -rf W
mv a.go W
mv .git W
mv W a.go
cp a.go W
ln a.go W
ln -f W h
ln -sfn ../outside W
chmod 777 W
touch W
mkdir -p .git/hooks W
echo x > .git/hooks/pre-commit
echo x >> .git/config
echo x > .envrc
mkdir -p .vscode .adze/tools
echo x > .vscode/tasks.json
echo x > ~/h.txt
echo x > "$HOME/.bashrc"
echo x > /etc/adze-was-here
echo x > ../outside/new
cat a.go > link/o.txt
cp a.go link/
dd if=a.go of=W
truncate -s 0 W
install -m 777 a.go W
sed -i s/a/b/ W
find . -name W -delete
find .. -type f -exec rm {} +
perl -e 'open F, ">", "../outside/o.txt"; print F "x"'
perl -e 'unlink glob "../*/*"'
python3 -c 'open("../outside/o.txt","w").write("x")'
python3 -c 'import os; os.symlink("/etc", "e"); open("e/adze-was-here","w")'
python3 -c 'import os; os.rename(".git", "g"); os.makedirs(".git/hooks"); open(".git/hooks/pre-commit","w")'
git init W
git config core.fsmonitor ./zap
git -C W config x.y z
kill -9 1
eval W
exec W
sh -c W`, "\n")...)
	return g
}

// cagedYard is a yard whose lines run in a sandbox.
type cagedYard struct {
	*yard
	means sandbox.Technique
	box   *sandbox.Sandbox
}

// keep puts a copy of the workspace where the lines find it.
func (c *cagedYard) keep(t *testing.T) {
	t.Helper()
	if err := os.CopyFS(c.root+"/keep/all", os.DirFS(c.work)); err != nil {
		t.Fatal(err)
	}
}

// allowed makes lines and keeps those that mode auto allows for the sandbox's sake. Without one it
// asks about each.
func (c *cagedYard) allowed(t *testing.T, g *lineMaker, n int) (out []string) {
	t.Helper()
	full, none := yardPolicy(t, c.yard, Auto), yardPolicy(t, c.yard, Auto)
	full.options.Contained = func(bool) (string, bool) { return "full", true }
	for range n {
		need := tool.Need{Permission: tool.Execute, Target: g.next(), Sandboxed: true}
		v, without := full.judge(Auto, need), none.judge(Auto, need)
		switch {
		case v.layer == Contained && (v.effect != Allow || v.run == nil || !v.run.Sandboxed || without.effect != Ask):
			t.Errorf("%q may run anywhere: %+v; without a sandbox %s", need.Target, v.run, without.effect)
		case v.layer != Contained && v.effect != without.effect:
			t.Errorf("%q: %s with a sandbox, %s without", need.Target, v.effect, without.effect)
		case v.layer == Contained:
			out = append(out, need.Target)
		}
	}
	return out
}

// hold runs lines in one sandbox, and by halves finds the one that got out.
func (c *cagedYard) hold(t *testing.T, lines []string) {
	t.Helper()
	c.fill(t)
	before := c.around(t)
	c.run(t, lines)
	var changed []string
	after := c.around(t)
	for at := range before {
		if before[at] != after[at] {
			changed = append(changed, at)
		}
	}
	for at := range after {
		if _, was := before[at]; !was {
			changed = append(changed, at)
		}
	}
	switch {
	case len(changed) == 0:
	case len(lines) == 1:
		t.Errorf("%q changed %q", lines[0], changed)
	default:
		t.Errorf("one of %d lines changed %q", len(lines), changed)
		c.hold(t, lines[:len(lines)/2])
		c.hold(t, lines[len(lines)/2:])
	}
}

// run gives the lines to a shell in the sandbox, one after the other, and mends the workspace now
// and then.
func (c *cagedYard) run(t *testing.T, lines []string) {
	t.Helper()
	var b strings.Builder
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	for i, line := range lines {
		if i%8 == 0 {
			b.WriteString("/bin/rm -rf -- * 2>/dev/null; /bin/cp -a ../keep/all/. . 2>/dev/null\n")
		}
		fmt.Fprintf(&b, "timeout -s KILL 2 %s --noprofile --norc -c %s </dev/null >/dev/null 2>&1\n", c.bash, q(line))
	}
	if err := os.WriteFile(c.root+"/driver", []byte(b.String()+"echo all of them\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := proc.Supervisor{Cage: c.box}.Run(t.Context(), proc.Command{
		Argv: []string{c.bash, "--noprofile", "--norc", c.root + "/driver"}, Dir: c.work, Timeout: 10 * time.Minute,
		Env: []string{"PATH=" + c.bin, "HOME=" + c.root + "/home", "LC_CTYPE=C.UTF-8", "X=zap", "SHELL=/bin/sh", "V=../outside/o.txt"},
	})
	if err != nil || r.Sandbox == "" || !strings.HasSuffix(strings.TrimSpace(r.Output.Head+r.Output.Tail), "all of them") {
		t.Fatalf("the lines were not run: %v %q %s%s", err, r.Sandbox, r.Output.Head, r.Output.Tail)
	}
	c.box.Close() // what it holds in the workspace is no doing of theirs
}

// around is what no line may change: all beside the workspace, and in it what is protected; of
// that, Landlock holds contents alone.
func (c *cagedYard) around(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for at, text := range c.snapshot(t) {
		if !strings.HasPrefix(at, c.work+"/") {
			out[at] = text
		}
	}
	if _, err := os.Lstat("/etc/adze-was-here"); err == nil {
		out["/etc/adze-was-here"] = "it is there"
	}
	if c.means == sandbox.Landlock { // which leaves modes of files outside to whoever owns them, too
		return out
	}
	for _, name := range []string{c.root + "/home", c.root + "/outside", c.root + "/bin", c.root + "/keep", c.root} {
		info, err := os.Lstat(name)
		if err == nil {
			out["mode of "+name] = info.Mode().String()
		}
	}
	for _, name := range []string{".git/config", ".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", ".adze/tools"} {
		text, err := os.ReadFile(filepath.Join(c.work, name))
		out[name] = fmt.Sprint(string(text), os.IsNotExist(err))
	}
	return out
}
