package run_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// trap is a project whose files name one program and one server, and what reached them.
type trap struct {
	*user
	canary, log string
	server      net.Listener
	mu          sync.Mutex
	dialled     int
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	p := &trap{user: newUser(t)}
	outside := t.TempDir()
	p.canary, p.log = filepath.Join(outside, "canary"), filepath.Join(outside, "log")
	if err := os.WriteFile(p.canary, []byte("#!/bin/sh\necho \"$0 $*\" >> "+p.log+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.server, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.server.Close() })
	go func() {
		for {
			c, err := p.server.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.dialled++
			p.mu.Unlock()
			c.Close()
		}
	}()
	return p
}

// git works in the project before anything is planted.
func (p *trap) git(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// plant fills the project and returns how many files are traps.
func (p *trap) plant() int {
	p.t.Helper()
	p.file("app.txt", "one\n")
	p.file("sub/deep.txt", "two\n")
	p.git("init", "-q")
	p.git("add", "-A")
	p.git("commit", "-qm", "first")
	p.file("app.txt", "one\nNEEDLE\n")
	files := planted(p.t)
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		text = strings.NewReplacer("CANARY", p.canary, "SERVER", p.server.Addr().String()).Replace(text)
		if err := os.Chmod(p.file(name, text), mode); err != nil {
			p.t.Fatal(err)
		}
	}
	return len(files)
}

// planted reads the traps: files of adze, other assistants, git, editors, shells and builders.
func planted(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/planted.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	name := ""
	for line := range strings.Lines(string(raw)) {
		if head, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --\n") {
			name = strings.TrimSuffix(head, " --\n")
			files[name] = ""
			continue
		}
		if name != "" {
			files[name] += line
		}
	}
	return files
}

// silent fails when anything reached the program or the server.
func (p *trap) silent(when string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if raw, err := os.ReadFile(p.log); err == nil || p.dialled > 0 {
		p.t.Errorf("%s: the server was dialled %d times; the program ran:\n%s", when, p.dialled, raw)
	}
	os.Remove(p.log)
	p.dialled = 0
}

// wander is a model that looks around as models do.
const wander = `
-- 1 --
call read: {"path": "AGENTS.md"}
call list: {"path": "."}
call grep: {"pattern": "NEEDLE"}
call glob: {"pattern": "**/*.txt"}
-- 2 --
call git_status: {}
-- 3 --
call bash: {"command": "git status"}
call bash: {"command": "git diff", "workdir": "sub"}
call bash: {"command": "git -C bare log"}
call bash: {"command": "ls -la"}
-- 4 --
call edit: {"path": "app.txt", "old_string": "NEEDLE", "new_string": "THREAD"}
call write: {"path": "sub/new.txt", "content": "x"}
call lint: {}
-- 5 --
text: looked around
`

// Of a project full of traps nothing runs and nobody is dialled before its person consents:
// headless, in the interface, and in the commands that look at it.
func TestAProjectFullOfTrapsStartsNothing(t *testing.T) {
	p := newTrap(t)
	if n := p.plant(); n < 40 {
		t.Fatalf("%d traps, want at least 40", n)
	}
	rules := []string{"--permission-mode", "edits", "--allow", "execute(git status)", "--allow", "execute(git diff)", "--allow", "execute(git -C bare log)", "--allow", "execute(ls -la)"}
	headless := append([]string{"-p", "--output-format", "stream-json", p.script(wander), "look around"}, rules...)
	r := p.run(headless...).wants(0)
	p.silent("headless")
	if n := strings.Count(r.out, `"name":"bash","status":"completed"`) + strings.Count(r.out, `"name":"bash","status":"failed"`); n != 4 {
		t.Errorf("%d of the 4 commands ran\n%s", n, r.out)
	}
	p.file("app.txt", "one\nNEEDLE\n")
	for _, program := range []string{"git", "bash", "sh", "rg", "less"} { // for who has the folder itself in PATH
		p.file(program, "#!/bin/sh\nexec "+p.canary+" "+program+"\n")
		if err := os.Chmod(filepath.Join(p.dir, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	clean := p.env
	p.env = append(p.env, "PATH=.:"+p.dir+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	r = p.run(headless...).wants(0)
	p.silent("headless, with the folder in PATH")
	for _, want := range []string{`"name":"git_status","status":"completed"`, `"name":"bash","status":"completed"`, `"name":"grep","status":"completed"`, `"name":"edit","status":"completed"`,
		"ignored until you allow it: tool:lint", ".adze/config.json of this project sets what only you may set", `"permission_mode":"edits"`} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the run does not say %s\n%s", want, r.out)
		}
	}
	for _, args := range [][]string{{"trust", "list"}, {"tools", "list"}, {"doctor", "--offline"}, {"session", "list"}, {"permission", "test", "git status"},
		{"pick", "lint"}, {"models"}, {"audit", "show"}, {"tools", "run", "git_status", "--args", "{}"}} {
		p.run(args...)
		p.silent("adze " + strings.Join(args, " "))
	}
	r = p.run("trust", "list").wants(0)
	for _, id := range []string{"tool:lint", "hook:adze/", "hook:claude/", "hook:gemini/", "server:mcp-stdio", "server:mcp-http", "command:deploy"} {
		if !strings.Contains(r.out, id) {
			t.Errorf("trust list does not show %s:\n%s", id, r.out)
		}
	}
	t.Run("interface", func(t *testing.T) {
		p.user.t, p.t = t, t
		p.file("app.txt", "one\nNEEDLE\n")
		env := p.env
		p.env = clean // a shell of tmux would run what is in its folder
		screen := p.openPane(100, 40)
		p.env = env
		screen.begin(append([]string{p.script(wander), "look around"}, rules...)...)
		screen.sees("looked around")
		screen.keys("C-c", "C-c")
		p.silent("in the interface")
	})
	// The traps are live: git by itself walks into them.
	cmd := exec.Command("git", "status")
	cmd.Dir, cmd.Env = p.dir, append(clean, "GIT_CONFIG_GLOBAL=/dev/null")
	_ = cmd.Run() // how it ends does not count
	if _, err := os.Stat(p.log); err != nil {
		t.Error("git status alone started nothing, so this test shows nothing")
	}
}
