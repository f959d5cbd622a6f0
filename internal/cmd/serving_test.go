package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/nodetest"
	"adze/internal/testkit/posix"
)

// mcpStep is one thing that the official client does.
type mcpStep struct {
	List  bool           `json:"list,omitempty"`
	Call  string         `json:"call,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
	Until string         `json:"until,omitempty"` // when this file is there the call is taken back
	Hang  bool           `json:"hang,omitempty"`  // or that is told, and the client goes on waiting
}

// mcpSaid is what it prints of one.
type mcpSaid struct {
	Connected, Era, Asked, Call, Status, Thrown string
	Choices                                     []string
	Tools                                       []struct {
		Name        string
		InputSchema struct{ Type string }
		Annotations struct{ ReadOnlyHint, DestructiveHint bool }
	}
	Error   bool
	Hangs   bool
	Content []struct {
		Type, Text, MimeType string
		Data                 []byte
	}
	Progress []struct {
		Progress float64
		Message  string
	}
}

// mcpServer is adze mcp serve as a client reaches it: by starting it, or by its address.
func (u *user) mcpServer(overHTTP bool, args ...string) map[string]any {
	u.t.Helper()
	cmd := u.command(append([]string{"mcp", "serve"}, args...)...)
	if !overHTTP {
		env := map[string]string{}
		for _, kv := range u.env {
			name, value, _ := strings.Cut(kv, "=")
			env[name] = value
		}
		return map[string]any{"command": cmd.Path, "args": cmd.Args[1:], "env": env, "cwd": u.dir}
	}
	cmd.Args = append(cmd.Args, "--http", "127.0.0.1:0")
	errs, err := cmd.StderrPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM); cmd.Wait() })
	said := bufio.NewScanner(errs)
	where := map[string]any{}
	for len(where) < 2 && said.Scan() {
		if _, url, ok := strings.Cut(said.Text(), "adze listens on "); ok {
			where["url"] = url
		}
		if token, ok := strings.CutPrefix(said.Text(), "token: "); ok {
			where["token"] = token
		}
	}
	go io.Copy(io.Discard, errs)
	return where
}

// mcpClient starts the official client.
func (u *user) mcpClient(server map[string]any, era string, answers []string, steps ...mcpStep) *exec.Cmd {
	u.t.Helper()
	text, err := os.ReadFile("testdata/mcp_client.mjs")
	if err != nil {
		u.t.Fatal(err)
	}
	wish := map[string]any{"era": era, "steps": steps}
	for k, v := range server {
		wish[k] = v
	}
	if answers != nil {
		wish["answers"] = answers
	}
	raw, err := json.Marshal(wish)
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.Command("node", nodetest.Script(u.t, "client.mjs", string(text), "@modelcontextprotocol/client"), string(raw))
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

// mcpSays runs it to its end.
func (u *user) mcpSays(server map[string]any, era string, answers []string, steps ...mcpStep) (out []mcpSaid) {
	u.t.Helper()
	cmd := u.mcpClient(server, era, answers, steps...)
	raw, err := cmd.Output()
	if err != nil {
		u.t.Fatalf("%v: %s\n%s", err, raw, cmd.Stderr)
	}
	for line := range bytes.Lines(raw) {
		var s mcpSaid
		if err := json.Unmarshal(line, &s); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		out = append(out, s)
	}
	return out
}

const onePixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

// The official client, over both ways and in both eras of the protocol: it lists, calls, is asked,
// is told how a task goes, and takes a command back with all that it started.
func TestTheOfficialMCPClient(t *testing.T) {
	nodetest.Modules(t, "@modelcontextprotocol/client")
	for _, overHTTP := range []bool{false, true} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(fmt.Sprintf("http=%t %s", overHTTP, era), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				u.file("a.txt", "hello\n")
				u.file("dot.png", onePixel)
				pids := filepath.Join(u.dir, "pids")
				model := u.script("-- 1 --\ntext: unused\n-- explore: 1 --\ncall read: {\"path\":\"a.txt\"}\n-- explore: 2 --\nexpect read completed: hello\ntext: it says hello\n" +
					"-- general: 1 --\ncall write: {\"path\":\"d.txt\",\"content\":\"sub\\n\"}\n-- general: 2 --\nexpect write completed: d.txt\ntext: it is written\n")
				server := u.mcpServer(overHTTP, model)
				said := u.mcpSays(server, era, []string{"once", "decline", "session", "once", "once"},
					mcpStep{List: true},
					mcpStep{Call: "read", Args: map[string]any{"path": "a.txt"}},
					mcpStep{Call: "read", Args: map[string]any{"path": "dot.png"}},
					mcpStep{Call: "read", Args: map[string]any{"pfad": 1}},
					mcpStep{Call: "write", Args: map[string]any{"path": "b.txt", "content": "new\n"}},
					mcpStep{Call: "write", Args: map[string]any{"path": "c.txt", "content": "new\n"}},
					mcpStep{Call: "bash", Args: map[string]any{"command": "wc -c < a.txt > n.txt"}},
					mcpStep{Call: "bash", Args: map[string]any{"command": "wc -c < a.txt > n.txt"}},
					mcpStep{Call: "task", Args: map[string]any{"description": "look at it", "prompt": "what does a.txt say?", "background": true}},
					mcpStep{Call: "task", Args: map[string]any{"description": "write it", "prompt": "write d.txt", "agent": "general"}},
					mcpStep{Call: "bash", Args: map[string]any{"command": "sleep 1000 & echo $! $$ > pids.new; mv pids.new pids; wait"}, Until: pids},
				)
				u.wantsSaid(said, era)
				u.gone(pids)
				r := u.run("session", "list", "--json").wants(0, `"model":"script/`)
				if n := strings.Count(r.out, "\n"); n != 1 {
					t.Errorf("%d sessions:\n%s", n, r.out)
				}
				// A server over HTTP still runs: what it killed is gone before that is told and
				// stored.
				waitFor(t, "the end of the call that was aborted", func() bool { return strings.Contains(u.run("audit", "show").out, "bash aborted") })
				u.run("audit", "show").wants(0, "mcp/official 9", "read completed", "write denied")
				u.run("audit", "verify", "--all").wants(0, "sound")
				for name, there := range map[string]bool{"b.txt": true, "c.txt": false, "d.txt": true, "n.txt": true} {
					if _, err := os.Stat(filepath.Join(u.dir, name)); (err == nil) != there {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
	}
}

// wantsSaid is what the steps of TestTheOfficialMCPClient come to.
func (u *user) wantsSaid(said []mcpSaid, era string) {
	t := u.t
	t.Helper()
	var calls []mcpSaid
	asked := 0
	for _, s := range said {
		switch {
		case s.Connected != "" && (s.Connected != "adze" || s.Era != era):
			t.Errorf("connected to %s in %s", s.Connected, s.Era)
		case len(s.Tools) > 0:
			u.wantsTools(s)
		case s.Asked != "":
			asked++
		case s.Call != "":
			calls = append(calls, s)
		}
	}
	if len(calls) != 10 || asked != 5 {
		t.Fatalf("%d calls and %d questions: %+v", len(calls), asked, said)
	}
	for i, want := range []struct{ status, text string }{
		{"completed", "hello"}, {"completed", ""}, {"invalid", "path"}, {"completed", "b.txt"}, {"denied", "the person said no"}, {"completed", ""}, {"completed", ""}, {"completed", "it says hello"}, {"completed", "it is written"},
	} {
		c := calls[i]
		if c.Status != want.status || c.Error != (want.status != "completed") || len(c.Content) == 0 || !strings.Contains(c.Content[0].Text, want.text) {
			t.Errorf("call %d: %+v, want %+v", i, c, want)
		}
	}
	if picture := calls[1].Content; len(picture) != 2 || picture[1].Type != "image" || picture[1].MimeType != "image/png" || len(picture[1].Data) == 0 {
		t.Errorf("the picture came as %+v", picture)
	}
	told, last := "", 0.0
	for _, p := range calls[7].Progress {
		if told += p.Message + "\n"; p.Progress <= last {
			t.Errorf("progress goes from %v to %v", last, p.Progress)
		}
		last = p.Progress
	}
	if !strings.Contains(told, "look at it") && !strings.Contains(told, "read") {
		t.Errorf("of the task was told %q", told)
	}
	if calls[9].Thrown == "" {
		t.Errorf("the call that was taken back came to %+v", calls[9])
	}
}

func (u *user) wantsTools(s mcpSaid) {
	u.t.Helper()
	names := map[string]bool{}
	for _, each := range s.Tools {
		names[each.Name] = true
		reads := each.Name == "read" || each.Name == "grep" || each.Name == "glob" || each.Name == "list" || each.Name == "webfetch"
		if a := each.Annotations; reads != a.ReadOnlyHint && (reads || each.Name == "bash" || each.Name == "write" || each.Name == "task") || a.ReadOnlyHint == a.DestructiveHint {
			u.t.Errorf("%s is offered as %+v", each.Name, a)
		}
		if each.InputSchema.Type != "object" {
			u.t.Errorf("%s takes %+v", each.Name, each.InputSchema)
		}
	}
	for _, name := range []string{"read", "write", "edit", "bash", "grep", "task"} {
		if !names[name] {
			u.t.Errorf("%s is not offered", name)
		}
	}
	for _, name := range []string{"ask", "tool_search", "todowrite", "plan"} {
		if names[name] {
			u.t.Errorf("%s is offered", name)
		}
	}
}

// gone waits until the processes of a file have ended.
func (u *user) gone(pids string) {
	u.t.Helper()
	raw, err := os.ReadFile(pids)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, word := range strings.Fields(string(raw)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			u.t.Fatal(err)
		}
		for end := time.Now().Add(2 * time.Minute); alive(pid); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				u.t.Fatalf("process %d still runs", pid)
			}
		}
	}
}

// alive reports a process that is no zombie.
func alive(pid int) bool {
	if !posix.Alive(pid) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

// A client that is killed takes along its calls with all that they started; over stdio adze goes,
// too, and leaves no jobs.
func TestAKilledMCPClient(t *testing.T) {
	nodetest.Modules(t, "@modelcontextprotocol/client")
	for _, overHTTP := range []bool{false, true} {
		t.Run(fmt.Sprintf("http=%t", overHTTP), func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			pids, job := filepath.Join(u.dir, "pids"), filepath.Join(u.dir, "job")
			server := u.mcpServer(overHTTP, "--permission-mode", "yolo")
			cmd := u.mcpClient(server, "2025-11-25", nil,
				mcpStep{Call: "bash", Args: map[string]any{"command": "echo $$ $PPID > job; sleep 1000", "background": true}},
				mcpStep{Call: "bash", Args: map[string]any{"command": "sleep 1000 & echo $! $$ > pids.new; mv pids.new pids; wait"}, Until: pids, Hang: true})
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hangs := false
			for lines := bufio.NewScanner(out); !hangs && lines.Scan(); {
				hangs = strings.Contains(lines.Text(), "hangs")
			}
			cmd.Process.Kill()
			cmd.Wait()
			if !hangs {
				t.Fatalf("the client did not come so far: %s", cmd.Stderr)
			}
			u.gone(pids)
			if overHTTP { // its session waits a little, as after a broken connection
				u.run("session", "list").wants(0, "official 9")
				return
			}
			u.gone(job)
			u.run("audit", "show").wants(0, "bash aborted")
		})
	}
}

// The inspector's command line, as people try servers.
func TestTheMCPInspector(t *testing.T) {
	inspector := nodetest.Program(t, "@modelcontextprotocol/inspector", "mcp-inspector")
	u := newUser(t)
	u.file("a.txt", "hello\n")
	inspect := func(args ...string) string {
		cmd := exec.Command(inspector, append([]string{"--cli"}, args...)...)
		cmd.Dir, cmd.Env = u.dir, u.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	self := u.command("mcp", "serve").Path
	if out := inspect(self, "mcp", "serve", "--method", "tools/list"); !strings.Contains(out, `"name": "grep"`) {
		t.Errorf("listed over stdio:\n%.2000s", out)
	}
	// It sends no headers of the user's: something between adds the token.
	server := u.mcpServer(true)
	between := tokenProxy(t, server["url"].(string), server["token"].(string))
	out := inspect(between, "--transport", "http", "--method", "tools/call", "--tool-name", "read", "--tool-arg", "path=a.txt")
	if !strings.Contains(out, "1  hello") {
		t.Errorf("called over HTTP:\n%.2000s", out)
	}
}

// Each call is a turn: it is undone by itself, and a model goes on with the session.
func TestWhatAnMCPClientDidIsUndone(t *testing.T) {
	u := newUser(t)
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"piped\u001b[2J","version":"1"}}}` + "\n"
	for _, name := range []string{"one", "two"} {
		lines += fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"write","arguments":{"path":%q,"content":"x\n"}}}`+"\n", name, name)
	}
	lines += `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"bash","arguments":{"command":"touch three"}}}` + "\n"
	r := u.runWith(strings.NewReader(lines), "mcp", "serve", "--permission-mode", "edits").wants(0, `"created one`, `"created two`, "--allow 'execute(touch three)'")
	if strings.ContainsRune(r.out, '\x1b') {
		t.Errorf("it printed %q", r.out)
	}
	there := func(want ...string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(u.dir, "*"))
		if err != nil || len(files) != len(want) {
			t.Errorf("there are %q, want %q", files, want)
		}
	}
	there("one", "two")
	u.run("undo").wants(0, "undone")
	there("one or two")
	u.run("undo").wants(0, "undone")
	there()
	u.run("redo").wants(0, "redone")
	there("one or two")
	u.run("-p", "--continue", u.script("-- 1 --\ntext: gone on\n"), "go on").wants(0, "gone on")
	u.runWith(strings.NewReader(""), "mcp", "serve", "--tools", "read,teleport").wants(2, "teleport")
	u.run("mcp", "serve", "--http", "0.0.0.0:0").wants(2, "on this machine alone")
}
