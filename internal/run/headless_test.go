package run_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/posix"
)

func TestMistakesOfTheCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"unknown flag":       {[]string{"-p", "--modle", "x", "hi"}, 2, []string{"unknown flag: --modle", "did you mean --model?"}},
		"unknown format":     {[]string{"-p", "--output-format", "yaml", "hi"}, 2, []string{`"yaml"`, "text, json or stream-json"}},
		"no prompt":          {[]string{"-p"}, 2, []string{"there is no prompt"}},
		"unknown mode":       {[]string{"-p", "--permission-mode", "wild", "--model", "openai/m", "hi"}, 2, []string{"wild", "ask", "plan"}},
		"bad rule":           {[]string{"-p", "--allow", "fly(moon)", "--model", "openai/m", "hi"}, 2, []string{"fly"}},
		"missing folder":     {[]string{"-p", "--cwd", "/no/such/folder", "--model", "openai/m", "hi"}, 2, []string{"/no/such/folder"}},
		"unknown tool":       {[]string{"-p", "--tools", "reed", "--model", "openai/m", "hi"}, 2, []string{`"reed"`, "read"}},
		"nothing to resume":  {[]string{"-p", "--resume", "2020", "--model", "openai/m", "hi"}, 2, []string{"no such session", "adze sessions list"}},
		"both resumes":       {[]string{"-p", "-c", "-r", "x", "hi"}, 2, []string{"exclude each other"}},
		"negative budget":    {[]string{"-p", "--max-turns", "-1", "hi"}, 2, []string{"cannot be negative"}},
		"no model":           {[]string{"-p", "hi"}, 3, []string{"no model is configured", "--model", "ANTHROPIC_API_KEY", "Ollama", "adze --demo"}},
		"unknown provider":   {[]string{"-p", "--model", "acme/m", "hi"}, 3, []string{`no provider "acme"`, "openai/NAME"}},
		"no name":            {[]string{"-p", "--model", "openai", "hi"}, 3, []string{`"openai" names no model`}},
		"no script":          {[]string{"-p", "--model", "script/none.txtar", "hi"}, 3, []string{"none.txtar"}},
		"no terminal":        {nil, 2, []string{"there is no prompt", "adze -p"}},
		"attach a text file": {[]string{"-p", "--attach", "/etc/hostname", "--model", "openai/m", "hi"}, 2, []string{"neither an image nor a PDF"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			if slices.Contains(c.args, "openai/m") {
				u.env = append(u.env, "OPENAI_API_KEY=k") // the mistake is another one
			}
			r := u.run(c.args...).wants(c.code, c.says...)
			if !strings.Contains(r.err, "adze: error: ") || !strings.Contains(r.err, "hint: ") {
				t.Errorf("stderr has no error with a hint: %s", r.err)
			}
			if r.out != "" {
				t.Errorf("stdout = %q, want nothing", r.out)
			}
		})
	}
}

func TestAMistakeIsAResultForAScriptToo(t *testing.T) {
	r := newUser(t).run("-p", "--output-format=stream-json", "--modle", "x", "hi").wants(2)
	if got := r.result(); got["cause"] != "usage" || !strings.Contains(fmt.Sprint(got["message"]), "--modle") {
		t.Errorf("result = %v", got)
	}
	r = newUser(t).run("-p", "--output-format", "json", "hi").wants(3)
	if got := r.result(); got["cause"] != "no_model" {
		t.Errorf("result = %v", got)
	}
}

func TestABadConfigurationStopsTheStart(t *testing.T) {
	u := newUser(t)
	u.configure(`{"max_turns": "x"}`)
	u.run("-p", "hi").wants(2, "config.json", "max_turns", "change the value")
}

func TestThePromptComesFromArgumentsAndStdin(t *testing.T) {
	for name, c := range map[string]struct {
		words, piped, expect string
	}{
		"words":  {"fix it", "", `^fix it$`},
		"stdin":  {"", "fix that\n", `^fix that\n$`},
		"both":   {"fix it", "a log\n", `^fix it\n\n<stdin>\na log\n</stdin>$`},
		"blanks": {"fix it", " \n", `^fix it$`},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			model := u.script("-- 1 --\nexpect prompt: " + c.expect + "\ntext: yes\n")
			args := []string{"-p", model}
			if c.words != "" {
				args = append(args, c.words)
			}
			r := u.runWith(strings.NewReader(c.piped), args...).wants(0)
			if r.out != "yes\n" {
				t.Errorf("stdout = %q", r.out)
			}
		})
	}
}

func TestJSONIsTheLastLineOfTheStream(t *testing.T) {
	steps := "-- 1 --\ntext: done\n"
	u := newUser(t)
	one := u.run("-p", "--output-format", "json", u.script(steps), "hi").wants(0).result()
	many := u.run("-p", "--output-format", "stream-json", u.script(steps), "hi").wants(0)
	last := many.result()
	for key := range last {
		if _, ok := one[key]; !ok {
			t.Errorf("json has no %s", key)
		}
	}
	if one["text"] != "done" || last["text"] != "done" || one["schema"] != last["schema"] {
		t.Errorf("json %v, stream %v", one, last)
	}
	first := many.lines()[0]
	if first["type"] != "init" || first["schema"] != "adze.stream/1" || first["provider"] != "script" {
		t.Errorf("first line = %v", first)
	}
}

func TestNoControlByteReachesStdout(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: a\x1b[31mred\x1b[0m \x07bell \x7f \u009b2J\n")
	for _, format := range []string{"text", "json", "stream-json"} {
		r := u.run("-p", "--output-format", format, model, "hi").wants(0)
		for _, c := range r.out {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
				t.Errorf("%s: control character %U on stdout", format, c)
			}
		}
	}
}

func TestFailuresOfTheServer(t *testing.T) {
	sse := func(lines ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, l := range lines {
				fmt.Fprintf(w, "data: %s\n\n", l)
			}
		}
	}
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); io.WriteString(w, body) }
	}
	half := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"touch ran\""}}]}}]}`
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		code    int
		cause   string
	}{
		"HTML instead of JSON":          {status(200, "<html><body>Welcome</body></html>"), 4, "provider"},
		"cut in the middle of a call":   {sse(half), 4, "provider"},
		"wrong key":                     {status(401, `{"error":{"message":"Incorrect API key provided"}}`), 3, "no_model"},
		"unknown model":                 {status(404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`), 3, "no_model"},
		"does not fit":                  {status(400, `{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), 5, "context"},
		"an error inside the stream":    {sse(`{"error":{"message":"overheated","type":"server_error"}}`), 4, "provider"},
		"a line that is not JSON":       {sse(`{"choices":[{`), 4, "provider"},
		"an empty body":                 {status(200, ""), 4, "provider"},
		"an answer that says nothing":   {sse(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), 14, "no_answer"},
		"a refusal of the content rule": {sse(`{"choices":[{"index":0,"delta":{"content":"I"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, "[DONE]"), 9, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.serve(c.handler)
			r := u.run("-p", "--permission-mode", "yolo", "--max-time", "30s", "--output-format", "stream-json", "--model", "openai/m", "hi")
			r.wants(c.code)
			res := r.result()
			if res["cause"] != c.cause || res["message"] == "" {
				t.Errorf("cause %v, message %v", res["cause"], res["message"])
			}
			if strings.Contains(r.out+r.err, "sk-secret-of-the-test") {
				t.Error("the key was printed")
			}
			if _, err := os.Stat(filepath.Join(u.dir, "ran")); err == nil {
				t.Error("a call of a broken answer ran")
			}
		})
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	r := u.run("-p", "--max-time", "1s", "--output-format", "json", "--model", "openai/m", "hi")
	if r.code != 4 && r.code != 6 { // retries may meet the time budget first
		r.wants(4)
	}
	if got := r.result(); got["message"] == "" || got["hint"] == "" {
		t.Errorf("result = %v", got)
	}
}

func TestBadCallsAreAnsweredAndTheRunGoesOn(t *testing.T) {
	u := newUser(t)
	if err := posix.Fifo(t, filepath.Join(u.dir, "pipe")); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	model := u.script(`-- 1 --
call reed: {"path":"a"}
call read: {"path":{"name":3}}
call read: {"path":"pipe"}
call read: {"path":"missing.txt"}
call read: {"path":
call read: ["pipe"]
-- 2 --
expect reed invalid: did you mean read
text: enough
`)
	r := u.run("-p", "--output-format", "stream-json", model, "hi").wants(0)
	want := []string{"reed invalid unknown_tool", "read invalid invalid_arguments", "read failed not_regular",
		"read failed not_found", "read invalid invalid_json", "read invalid invalid_arguments"}
	if got := r.ends(); !slices.Equal(got, want) {
		t.Errorf("outcomes = %q\nwant %q", got, want)
	}
}

func TestAFloodIsBoundedAndCounted(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ncall bash: {\"command\":\"yes adze | head -c 50000000\"}\n-- 2 --\nexpect bash completed: adze\ntext: read it\n")
	r := u.run("-p", "--output-format", "stream-json", "--permission-mode", "yolo", model, "hi").wants(0)
	if size := len(r.out); size > 2<<20 {
		t.Errorf("%d bytes on stdout for one flood", size)
	}
	for _, l := range r.lines() {
		if l["type"] == "tool_end" && l["truncated"] != true {
			t.Errorf("the outcome does not say that it was cut: %v", l)
		}
	}
}

func TestDenialsWithNobodyToAsk(t *testing.T) {
	steps := "-- 1 --\ncall bash: {\"command\":\"touch ran\"}\n-- 2 --\nexpect bash denied: denied\ntext: I could not run it\n"
	u := newUser(t)
	r := u.run("-p", "--output-format", "stream-json", u.script(steps), "hi").wants(7, "every call was denied: 1 call", "--allow 'execute(touch **)'")
	if denied, ok := r.result()["denied"].([]any); !ok || len(denied) != 1 {
		t.Errorf("denied = %v", r.result()["denied"])
	}
	asked := false
	for _, l := range r.lines() {
		asked = asked || l["type"] == "ask"
	}
	if !asked {
		t.Error("no ask event")
	}
	u.run("-p", "--fail-on-deny", u.script(steps), "hi").wants(7, "denied")
	// One that did something else, too, ends well without --fail-on-deny.
	some := "-- 1 --\ncall bash: {\"command\":\"touch ran\"}\ncall list: {}\n-- 2 --\ntext: I looked.\n"
	u.run("-p", u.script(some), "hi").wants(0, "I looked.")
	if _, err := os.Stat(filepath.Join(u.dir, "ran")); err == nil {
		t.Error("the denied command ran")
	}
}

func TestRulesOfTheCommandLine(t *testing.T) {
	steps := "-- 1 --\ncall bash: {\"command\":\"printenv PATH\"}\ncall bash: {\"command\":\"printenv HOME\"}\n-- 2 --\ntext: end\n"
	u := newUser(t)
	r := u.run("-p", "--output-format", "stream-json", "--allow", "execute(printenv PATH)", u.script(steps), "hi").wants(0)
	if got, want := r.ends(), []string{"bash completed", "bash denied denied"}; !slices.Equal(got, want) {
		t.Errorf("outcomes = %q, want %q", got, want)
	}
	r = u.run("-p", "--output-format", "stream-json", "--permission-mode", "yolo", "--deny", "execute(printenv HOME)", u.script(steps), "hi").wants(0)
	if got, want := r.ends(), []string{"bash completed", "bash denied denied"}; !slices.Equal(got, want) {
		t.Errorf("yolo with a deny: outcomes = %q, want %q", got, want)
	}
}

func TestBudgetsHaveTheirExitCode(t *testing.T) {
	steps := "-- 1 --\ncall list: {}\n-- 2 --\ncall list: {}\n-- 3 --\ntext: end\n"
	u := newUser(t)
	u.run("-p", "--max-turns", "1", u.script(steps), "hi").wants(6, "1 model requests")
	u.run("-p", "--max-calls", "1", u.script(steps), "hi").wants(6, "1 calls")
	slow := "-- 1 --\ncall bash: {\"command\":\"sleep 60\"}\n-- 2 --\ntext: end\n"
	u.run("-p", "--max-time", "300ms", "--permission-mode", "yolo", u.script(slow), "hi").wants(6, "longer than 300ms")
}

func TestASessionGoesOn(t *testing.T) {
	u := newUser(t)
	one := u.run("-p", "--output-format", "json", u.script("-- 1 --\ntext: first\n"), "remember me").wants(0).result()
	id := fmt.Sprint(one["session"])
	// A new process reads the script from its start: only the history tells that this is a second
	// prompt.
	two := u.run("-p", "--continue", "--output-format", "json", u.script("-- 1 --\nexpect prompt: ^again$\ntext: second\n"), "again").wants(0).result()
	if fmt.Sprint(two["session"]) != id {
		t.Errorf("continued %v, want %s", two["session"], id)
	}
	forked := u.run("-p", "--resume", id[:len(id)-2], "--fork", "--output-format", "json", u.script("-- 1 --\ntext: third\n"), "more").wants(0).result()
	if fmt.Sprint(forked["session"]) == id {
		t.Error("the fork has the id of its parent")
	}
	u.run("session", "list").wants(0, id, "remember me")
	u.run("sessions", "verify", id).wants(0, "are as they were written")
	u.run("-p", "--no-session", u.script("-- 1 --\ntext: fourth\n"), "leave no trace").wants(0)
	if r := u.run("session", "list"); strings.Contains(r.out, "leave no trace") {
		t.Error("--no-session was saved")
	}
}

func TestASessionHasOneWriter(t *testing.T) {
	u := newUser(t)
	ready := make(chan struct{}, 1)
	u.serve(waiting(ready, ""))
	s := u.start("-p", "--model", "openai/m", "hold it")
	<-ready
	u.run("-p", "--continue", "--model", "openai/m", "me too").wants(10, "open in another process", fmt.Sprint(s.cmd.Process.Pid))
	s.signal(syscall.SIGINT).wants(130)
}

func TestInstructionsOfTheProject(t *testing.T) {
	u := newUser(t)
	u.file(".git/HEAD", "ref: refs/heads/main\n")
	u.file("AGENTS.md", "Top rule.\n")
	u.file("sub/AGENTS.md", "Sub rule.\n")
	secret := filepath.Join(u.home, "secret")
	if err := os.WriteFile(secret, []byte("the key"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.file("sub/deep/go.mod", "module x\n")
	if err := os.Symlink(secret, filepath.Join(u.dir, "sub/deep/AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.home, "AGENTS.md"), []byte("My rule.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bodies := make(chan string, 2)
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	u.run("-p", "--cwd", filepath.Join(u.dir, "sub", "deep"), "--model", "openai/m", "hi").wants(0)
	sent := <-bodies
	mine, top, sub := strings.Index(sent, "My rule."), strings.Index(sent, "Top rule."), strings.Index(sent, "Sub rule.")
	if mine < 0 || top < mine || sub < top {
		t.Errorf("instructions at %d, %d, %d: want the person's, then the root's, then the folder's", mine, top, sub)
	}
	if strings.Contains(sent, "the key") {
		t.Error("a link out of the repository was followed into the prompt")
	}
	u.run("-p", "--bare", "--cwd", filepath.Join(u.dir, "sub"), "--model", "openai/m", "hi").wants(0)
	if strings.Contains(<-bodies, "rule.") {
		t.Error("--bare read instruction files")
	}
}

func TestAStoreThatCannotBeOpened(t *testing.T) {
	u := newUser(t)
	if err := os.WriteFile(filepath.Join(u.home, "state"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run("-p", u.script("-- 1 --\ntext: hi\n"), "hi").wants(10, "hint: ")
}

// waiting is a server that holds its answer after the head of one.
func waiting(started chan<- struct{}, head string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, "completions") {
			http.NotFound(w, r) // it is asked what kind of server it is
			return
		}
		if head != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, head)
			w.(http.Flusher).Flush()
		}
		select {
		case started <- struct{}{}:
			<-r.Context().Done()
		case <-r.Context().Done(): // a second request, which nobody waits for
		}
	}
}

func TestSignalsInEveryPhase(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	delta := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n"
	args := []string{"-p", "--output-format", "stream-json", "--permission-mode", "yolo"}
	for _, sig := range []struct {
		signal syscall.Signal
		code   int
		cause  string
	}{{syscall.SIGINT, 130, "interrupted"}, {syscall.SIGTERM, 143, "terminated"}} {
		for _, phase := range []string{"before the headers", "in the text", "in a command", "in reading stdin"} {
			t.Run(fmt.Sprintf("%s %s", sig.cause, phase), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				tag := fmt.Sprintf("7%d.%d", os.Getpid(), time.Now().UnixNano()%1e9)
				ready := make(chan struct{}, 1)
				var s *started
				switch phase {
				case "before the headers":
					u.serve(waiting(ready, ""))
					s = u.start(append(args, "--model", "openai/m", "hi")...)
					<-ready
				case "in the text":
					u.serve(waiting(ready, delta))
					s = u.start(append(args, "--model", "openai/m", "hi")...)
					s.until(`"type":"text"`)
				case "in a command":
					model := u.script("-- 1 --\ncall bash: {\"command\":\"echo up; (setsid sleep " + tag + " &) ; sleep " + tag + "\"}\n-- 2 --\ntext: end\n")
					s = u.start(append(args, model, "hi")...)
					s.until(`"lines":1`)
				case "in reading stdin":
					s = u.startReading(append(args, "--model", "openai/m")...)
				}
				r := s.signal(sig.signal).wants(sig.code)
				if got := r.result()["cause"]; got != sig.cause {
					t.Errorf("cause = %v, want %s", got, sig.cause)
				}
				wantNobody(t, tag)
			})
		}
	}
}

// startReading starts a run whose stdin stays open, and waits until the run has taken what is in
// it: then it is in its read.
func (u *user) startReading(args ...string) *started {
	u.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { w.Close(); r.Close() })
	if _, err := w.WriteString("half a prompt"); err != nil {
		u.t.Fatal(err)
	}
	s := u.startWith(r, args...)
	waitFor(u.t, "a read of stdin", func() bool {
		return unread(u.t, w) == 0
	})
	return s
}

// wantNobody checks that no process carries the tag any more.
func wantNobody(t *testing.T, tag string) {
	t.Helper()
	waitFor(t, "the end of all processes", func() bool { return len(carrying(tag)) == 0 })
}

func TestKillLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the census of processes needs /proc")
	}
	u := newUser(t)
	tag := fmt.Sprintf("8%d.5", os.Getpid())
	model := u.script("-- 1 --\ncall bash: {\"command\":\"echo up; (setsid sleep " + tag + " &) ; sleep " + tag + "\"}\n-- 2 --\ntext: end\n")
	s := u.start("-p", "--output-format", "stream-json", "--permission-mode", "yolo", model, "hi")
	s.until(`"lines":1`)
	waitFor(t, "a census that sees both commands: without it this test could not fail", func() bool { return len(carrying(tag)) > 1 })
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
	wantNobody(t, tag)
	// What was seen is in the log, and the open call has exactly one outcome after the next start.
	r := u.run("-p", "--continue", "--output-format", "stream-json", u.script("-- 1 --\nexpect prompt: ^and now$\ntext: unknown\n"), "and now").wants(0)
	if got := r.result()["text"]; got != "unknown" {
		t.Errorf("text = %v", got)
	}
}

func TestAReaderThatGoesAway(t *testing.T) {
	u := newUser(t)
	var steps strings.Builder
	for i := range 200 {
		fmt.Fprintf(&steps, "-- %d --\ntext: %s\ncall list: {}\n", i+1, strings.Repeat("word ", 200))
	}
	cmd := u.command("-p", "--output-format", "stream-json", u.script(steps.String()), "hi")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(pipe, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	_ = cmd.Wait() // the code is what counts
	if code := cmd.ProcessState.ExitCode(); code != 11 {
		t.Errorf("exit code %d, want 11", code)
	}
}

func TestTheDemoFixesItsProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the demo needs go in PATH")
	}
	u := newUser(t)
	u.env = append(u.env, "TMPDIR="+t.TempDir())
	r := u.run("--demo", "--print", "--output-format", "stream-json").wants(0, "scripted", "tools are real")
	if got, want := fmt.Sprint(r.result()["files_changed"]), "[stats.go]"; got != want {
		t.Errorf("files changed %s, want %s", got, want)
	}
	var dir string
	for _, l := range r.lines() {
		if l["type"] == "init" {
			dir = fmt.Sprint(l["cwd"])
		}
	}
	check := exec.Command("go", "test", "./...")
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("the demo's test fails after the demo: %v\n%s", err, out)
	}
}
