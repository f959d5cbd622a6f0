package run_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wire is adze acp with its pipes in the hands of a test.
type wire struct {
	u    *user
	in   io.WriteCloser
	out  *bufio.Reader
	cmd  *exec.Cmd
	kill func()
}

// wait is the exit code.
func (w *wire) wait() int {
	_ = w.cmd.Wait() // the code is what counts
	return w.cmd.ProcessState.ExitCode()
}

func (u *user) wire(args ...string) *wire {
	u.t.Helper()
	cmd := u.command(append([]string{"acp"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	late := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Kill() })
	u.t.Cleanup(func() { late.Stop(); _ = cmd.Process.Kill() })
	return &wire{u, in, bufio.NewReader(out), cmd, func() { in.Close(); out.Close() }}
}

func (w *wire) says(lines ...string) {
	w.u.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(w.in, l+"\n"); err != nil {
			w.u.t.Fatal(err)
		}
	}
}

// until reads up to a line that has all parts, and returns it.
func (w *wire) until(parts ...string) map[string]any {
	w.u.t.Helper()
	var seen strings.Builder
	for {
		line, err := w.out.ReadString('\n')
		seen.WriteString(line)
		if err != nil {
			w.u.t.Fatalf("%v before %q\n%s", err, parts, seen.String())
		}
		fits := true
		for _, p := range parts {
			fits = fits && strings.Contains(line, p)
		}
		if fits {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				w.u.t.Fatal(err)
			}
			return m
		}
	}
}

// hears reads until the model's text, joined over the messages of one session, holds this: a text
// comes in pieces, and where they are cut is a matter of time.
func (w *wire) hears(text string) {
	w.u.t.Helper()
	said := map[string]string{}
	for !anyHolds(said, text) {
		m := w.until(`"jsonrpc"`)
		if m["error"] != nil || m["result"] != nil {
			w.u.t.Fatalf("before %q: %v; heard %q", text, m, said)
		}
		params, _ := m["params"].(map[string]any)
		update, _ := params["update"].(map[string]any)
		if update["sessionUpdate"] != "agent_message_chunk" {
			continue
		}
		content := params["update"].(map[string]any)["content"].(map[string]any)
		said[params["sessionId"].(string)] += content["text"].(string)
	}
}

func anyHolds(said map[string]string, text string) bool {
	for _, s := range said {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// opens is a new session's id.
func (w *wire) opens(id int, cwd string) string {
	w.u.t.Helper()
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, id, cwd))
	return w.until(fmt.Sprintf(`"id":%d,"result"`, id))["result"].(map[string]any)["sessionId"].(string)
}

func prompting(id int, session, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, session, text)
}

// hours is how long nap sleeps, which no other run of these tests does.
func hours(n int) string { return fmt.Sprintf("86%d.%d", n, os.Getpid()) }

// nap is a command that tells that it is up, and sleeps.
func nap(n int) string { return "echo up; exec sleep " + hours(n) }

// napping is how many of them sleep.
func napping(n int) int { return len(carrying("sleep\x00" + hours(n))) }

func needProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no /proc to look for processes in")
	}
}

// TestACancelledPromptLeavesNothingRunning: a command that runs is ended, a question that is open,
// too, and so is a prompt whose cancel comes right behind it; the session goes on, and another one
// beside it was never touched.
func TestACancelledPromptLeavesNothingRunning(t *testing.T) {
	needProc(t)
	u := newUser(t)
	w := u.wire("--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\""+nap(497)+"\"}\n-- 2 --\ntext: Still here.\n-- 3 --\ntext: Still here.\n")) // the turn that is cancelled may have asked
	other := t.TempDir()
	a, b := w.opens(1, u.dir), w.opens(2, other)
	w.says(prompting(3, a, "sleep"))
	w.until("up", `"status":"in_progress"`, a)
	w.says(prompting(4, b, "sleep as well"))
	w.until("up", `"status":"in_progress"`, b)
	waitFor(t, "both commands", func() bool { return napping(497) == 2 })
	w.says(prompting(5, a, "twice"))
	w.until(`"id":5,"error"`, "a turn of this session runs")
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, a))
	w.until(`"status":"failed"`, a)
	w.until(`"id":3,"result"`, `"cancelled"`)
	w.says(prompting(6, a, "on"), fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, a))
	w.until(`"id":6,"result"`, `"cancelled"`)
	w.says(prompting(7, a, "on"))
	w.hears("Still here.")
	w.until(`"id":7,"result"`, `"end_turn"`)
	if napping(497) != 1 {
		t.Error("the cancel of one session ended the command of another")
	}
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"session/close","params":{"sessionId":%q}}`, b))
	w.until(`"id":4,"result"`, `"cancelled"`)
	w.until(`"id":8,"result"`)
	if napping(497) > 0 {
		t.Error("the command still runs")
	}
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestRequestsBeforeTheEndAreAnswered: a script writes its requests into a pipe and closes it.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	u := newUser(t)
	w := u.wire(u.script("-- 1 --\ntext: yes\n"))
	w.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, u.dir))
	w.in.Close()
	w.until(`"id":1`, `"result"`)
	w.until(`"id":2`)
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestAnEditorThatIsKilledLeavesNothingRunning: the pipes of a killed editor are closed, in the
// middle of a call and of a question.
func TestAnEditorThatIsKilledLeavesNothingRunning(t *testing.T) {
	needProc(t)
	u := newUser(t)
	w := u.wire("--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\""+nap(498)+"\"}\n"))
	a := w.opens(1, u.dir)
	w.says(prompting(2, a, "sleep"))
	w.until("up", `"status":"in_progress"`)
	w.kill()
	w.wait()
	if napping(498) > 0 {
		t.Error("the command still runs")
	}

	w = u.wire(u.script("-- 1 --\ncall bash: {\"command\":\"touch never\"}\n"))
	a = w.opens(1, u.dir)
	w.says(prompting(2, a, "touch"))
	w.until(`"session/request_permission"`)
	w.kill()
	w.wait()
	if _, err := os.Stat(filepath.Join(u.dir, "never")); err == nil {
		t.Error("a call ran that nobody allowed")
	}
}

// TestGarbageHasOneOutcome: each line that is no message, names what is not there or says what
// cannot be is answered once, and the connection goes on.
func TestGarbageHasOneOutcome(t *testing.T) {
	u := newUser(t)
	w := u.wire(u.script("-- 1 --\ntext: Hello.\n"))
	for n, c := range [][2]string{
		{`what`, `"id":null,"error":{"code":-32700`},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\xff\"}", `"id":null,"error":{"code":-32700`},
		{`[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"initialize"}`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":"a"}`, `"id":"a","error":{"code":-32600`},
		{`{"id":7,"method":"initialize"}`, `"id":7,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":8,"method":17}`, `"id":8,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":9,"method":"session/dance"}`, `"id":9,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":10,"method":"session/new","params":{"cwd":5}}`, `"id":10,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":11,"method":"session/new","params":{"cwd":"here","mcpServers":[]}}`, `"id":11,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":12,"method":"session/new","params":{"cwd":"/not/there","mcpServers":[]}}`, `"id":12,"error":{"code":-32602`},
		{prompting(13, "nobody", "x"), `"id":13,"error":{"code":-32002`},
		{`{"jsonrpc":"2.0","id":14,"method":"session/load","params":{"cwd":"/tmp","sessionId":"20","mcpServers":[]}}`, `"id":14,"error":{"code":-32002`},
		{`{"jsonrpc":"2.0","id":15,"method":"session/delete","params":{"sessionId":"20"}}`, `"id":15,"error":{"code":-32002`},
		{`{"jsonrpc":"2.0","id":16,"method":"session/list","params":{"cursor":"x"}}`, `"id":16,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":17,"method":"authenticate","params":{"methodId":"x"}}`, `"id":17,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":-18.5,"method":"session/dance"}`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":19,"method":"session/prompt","params":{"sessionId":"` + strings.Repeat("x", 11<<20) + `"}}`, `"id":19,"error":{"code":-32600`},
	} {
		// What follows is read as if nothing had been: an answer to nobody, a cancel of nobody, an
		// unknown notification.
		w.says(c[0], "", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody"}}`,
			`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, `{"jsonrpc":"2.0","method":"_x"}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1}}`, 1000+n))
		lines := ""
		for range 2 { // they are not in order: initialize waits for nothing
			line, err := w.out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			lines += line
		}
		if !strings.Contains(lines, c[1]) || !strings.Contains(lines, fmt.Sprintf(`"id":%d,"result"`, 1000+n)) {
			t.Fatalf("%.200s: answered %.1000q, want %q", c[0], lines, c[1])
		}
	}
	a := w.opens(2000, u.dir)
	w.says(prompting(2001, a, "go"))
	w.hears("Hello.")
	w.until(`"id":2001,"result"`, `"end_turn"`)
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestAnEditorIsAnsweredBeforeAnythingIsTouched: initialize is answered without a configuration
// that can be read, and what lacks then is told with the request that needs it.
func TestAnEditorIsAnsweredBeforeAnythingIsTouched(t *testing.T) {
	u := newUser(t)
	u.configure(`{"model": `)
	w := u.wire()
	w.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}}`)
	w.until(`"id":1,"result"`, `"mcpCapabilities":{"http":true,"sse":true}`, `"type":"terminal"`, `"args":["login"]`)
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, u.dir))
	w.until(`"id":2,"error"`, "config.json")
	u.configure(`{}`)
	w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, u.dir))
	w.until(`"id":3,"error"`, `-32000`)
	w.says(`{"jsonrpc":"2.0","id":4,"method":"authenticate","params":{"methodId":"login"}}`)
	w.until(`"id":4,"error"`, `-32000`)
	u.configure(fmt.Sprintf(`{"model": %q}`, strings.TrimPrefix(u.script("-- 1 --\ntext: x\n"), "--model=")))
	w.says(`{"jsonrpc":"2.0","id":5,"method":"authenticate","params":{"methodId":"login"}}`)
	w.until(`"id":5,"result"`)
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestASignalEndsAllSessions: what runs ends, and the code names the signal.
func TestASignalEndsAllSessions(t *testing.T) {
	needProc(t)
	u := newUser(t)
	w := u.wire("--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\""+nap(499)+"\"}\n"))
	w.says(prompting(2, w.opens(1, u.dir), "sleep"))
	w.until("up", `"status":"in_progress"`)
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	w.until(`"id":2,"result"`, `"cancelled"`)
	if code := w.wait(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	if napping(499) > 0 {
		t.Error("the command still runs")
	}
}
