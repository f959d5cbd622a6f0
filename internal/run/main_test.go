package run_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/internal/run"
	"adze/internal/testkit/lsptest"
	"adze/internal/testkit/mcptest"
)

// asMain makes the test binary behave as adze.
const asMain = "ADZE_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	lsptest.Serve()
	mcptest.Serve()
	if os.Getenv(asMain) != "" {
		attachConsole()
		out, done := heard(os.Stdout)
		code := run.Main(os.Args[1:], os.Stdin, out, os.Stderr)
		done()
		os.Exit(code)
	}
	os.Exit(inEmptyHome(m.Run))
}

// inEmptyHome runs the tests with an empty home, in which they must not leave anything. Caches of Go
// and npm stay where they are.
func inEmptyHome(tests func() int) int {
	cache, err := os.UserCacheDir()
	home, err2 := os.UserHomeDir()
	empty, err3 := os.MkdirTemp("", "adze-home-*")
	if err := errors.Join(err, err2, err3); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(empty)
	for name, value := range map[string]string{"HOME": empty, "XDG_CACHE_HOME": cache, "GOPATH": cmp.Or(os.Getenv("GOPATH"), filepath.Join(home, "go"))} {
		os.Setenv(name, value)
	}
	code := tests()
	// The go command counts its own use there, and has no setting that moves the counts.
	_ = os.RemoveAll(filepath.Join(empty, ".config", "go"))
	_ = os.Remove(filepath.Join(empty, ".config"))
	var left []string
	err = filepath.WalkDir(empty, func(path string, _ fs.DirEntry, err error) error {
		left = append(left, path)
		return err
	})
	if err != nil || len(left) > 1 {
		fmt.Fprintln(os.Stderr, "tests wrote into the home of the user:", left, err)
		return 1
	}
	return code
}

// inConsole makes an adze take the console that it was started in for its input and output, and with
// the value "probe" only say whether that console reads escape sequences, with "ctrl-c" whether it
// hands on Ctrl-C. Wine 8 gives a program no handles of a pseudo console.
const inConsole = "ADZE_TEST_IN_CONSOLE"

func attachConsole() {
	if os.Getenv(inConsole) == "" {
		return
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	out, err2 := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err := cmp.Or(err, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdin, os.Stdout, os.Stderr = in, out, out
	switch os.Getenv(inConsole) {
	case "probe":
		fmt.Fprintln(out, "escapes are read:", readsEscapes(out))
		os.Exit(0)
	case "ctrl-c":
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		fmt.Fprintln(out, "waiting")
		<-c
		fmt.Fprintln(out, "interrupted")
		os.Exit(0)
	}
}

// alsoTo names a folder in which an adze that prints events puts a copy of them, before anybody
// else sees them.
const alsoTo = "ADZE_TEST_ALSO_TO"

func heard(stdout *os.File) (out *os.File, done func()) {
	dir := os.Getenv(alsoTo)
	if dir == "" || !slices.Contains(os.Args, "stream-json") {
		return stdout, func() {}
	}
	said, err := os.CreateTemp(dir, "*.jsonl")
	if err != nil {
		panic(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(io.MultiWriter(said, stdout), from)
	}()
	return to, func() { to.Close(); <-over }
}

// user is a user with an empty home and a folder to work in.
type user struct {
	t         *testing.T
	dir, home string // the workspace, and ADZE_HOME
	own       string // HOME, with what other assistants keep
	env       []string
	panes     int // terminals that were opened
}

// newUser makes a user. A test that has one runs beside others, subtests one after the other.
func newUser(t *testing.T) *user {
	t.Helper()
	if _, again := besideOthers.LoadOrStore(t.Name(), true); !again && !strings.Contains(t.Name(), "/") {
		t.Parallel()
	}
	return newUserAlone(t)
}

// besideOthers holds the names of tests that run beside others.
var besideOthers sync.Map

// newUserAlone makes a user for a test that looks at all processes of the machine, or counts.
func newUserAlone(t *testing.T) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir(), home: t.TempDir(), own: t.TempDir()}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasSuffix(name, "_API_KEY"), strings.HasSuffix(name, "_BASE_URL"), name == "LM_API_TOKEN",
			name == "OLLAMA_HOST", name == "DBUS_SESSION_BUS_ADDRESS", name == "XDG_RUNTIME_DIR", name == "AGENT_WORKSPACE_ROOT", name == "ADZE_CONFIG",
			name == "XDG_CACHE_HOME":
		default:
			u.env = append(u.env, kv)
		}
	}
	// No test may find a model server of this machine: port 1 answers nobody. Nor what a user of this
	// machine has for other assistants; Go keeps its caches where they are.
	u.env = append(u.env, asMain+"=1", "ADZE_HOME="+u.home, "OLLAMA_HOST=127.0.0.1:1", "HOME="+u.own)
	if cache, err := os.UserCacheDir(); err == nil {
		u.env = append(u.env, "GOCACHE="+cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	}
	for _, name := range []string{"LLAMACPP", "LMSTUDIO", "VLLM"} {
		u.env = append(u.env, name+"_BASE_URL=http://127.0.0.1:1/v1")
	}
	return u
}

func (u *user) file(name, text string) string {
	u.t.Helper()
	path := filepath.Join(u.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		u.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return path
}

// configure writes the user's configuration.
func (u *user) configure(text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.home, "config.json"), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// script writes a conversation outside the workspace and returns its --model.
func (u *user) script(steps string) string {
	u.t.Helper()
	path := filepath.Join(u.home, "script.txtar")
	if err := os.WriteFile(path, []byte("# a test\n"+steps), 0o644); err != nil {
		u.t.Fatal(err)
	}
	return "--model=script/" + path
}

func (u *user) command(args ...string) *exec.Cmd {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	return cmd
}

// ran is how a run ended and what it printed.
type ran struct {
	t        *testing.T
	out, err string
	code     int
}

func (u *user) run(args ...string) ran { return u.runWith(nil, args...) }

func (u *user) runWith(stdin io.Reader, args ...string) ran {
	u.t.Helper()
	cmd := u.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	_ = cmd.Run() // the code is what counts
	return ran{u.t, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// endOf is the exit code of a run that did nothing but one call.
func endOf(denied bool) int {
	if denied {
		return 7
	}
	return 0
}

func (r ran) wants(code int, parts ...string) ran {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	}
	for _, part := range parts {
		if !strings.Contains(r.out+r.err, part) {
			r.t.Errorf("the output does not say %q\nstdout: %s\nstderr: %s", part, r.out, r.err)
		}
	}
	return r
}

// line is one event of stream-json, as a script sees it.
type line map[string]any

// lines checks the contract of the stream: every line is an object, exactly one result, and it is
// last.
func (r ran) lines() []line {
	r.t.Helper()
	var out []line
	results := 0
	scanner := bufio.NewScanner(strings.NewReader(r.out))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			r.t.Fatalf("a line is not JSON: %v\n%s", err, scanner.Text())
		}
		if l["type"] == "result" {
			results++
		}
		out = append(out, l)
	}
	if results != 1 || out[len(out)-1]["type"] != "result" {
		r.t.Fatalf("%d results, want one, last\n%s\n%s", results, r.out, r.err)
	}
	if code := out[len(out)-1]["exit_code"]; code != float64(r.code) {
		r.t.Errorf("the result says exit code %v, the process exited with %d", code, r.code)
	}
	return out
}

func (r ran) result() line {
	r.t.Helper()
	lines := r.lines()
	return lines[len(lines)-1]
}

// ends lists the outcomes as "name status code".
func (r ran) ends() []string {
	r.t.Helper()
	var out []string
	for _, l := range r.lines() {
		if l["type"] == "tool_end" {
			code, _ := l["code"].(string)
			out = append(out, strings.TrimSpace(fmt.Sprintf("%v %v %s", l["name"], l["status"], code)))
		}
	}
	return out
}

// serve answers chat completions with a handler and gives the user its address. A question about
// the kind of server is answered as a server does that knows only the compatible format; the
// handler does not see it.
func (u *user) serve(handler http.HandlerFunc) *httptest.Server {
	u.t.Helper()
	return u.serveAll(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		handler(w, r)
	})
}

// serveAll answers every request with a handler and gives the user its address.
func (u *user) serveAll(handler http.HandlerFunc) *httptest.Server {
	u.t.Helper()
	s := httptest.NewServer(handler)
	u.t.Cleanup(s.CloseClientConnections)
	u.t.Cleanup(s.Close)
	u.env = append(u.env, "OPENAI_API_KEY=sk-secret-of-the-test", "OPENAI_BASE_URL="+s.URL+"/v1")
	return s
}

// serveHalf begins every answer and never goes on.
func (u *user) serveHalf() {
	u.t.Helper()
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"This is half of it\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
}

// started is a run that is under way.
type started struct {
	u    *user
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs *bytes.Buffer
	seen strings.Builder
}

func (u *user) start(args ...string) *started {
	u.t.Helper()
	return u.startWith(nil, args...)
}

func (s *started) begin() *started {
	s.u.t.Helper()
	s.errs = &bytes.Buffer{}
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		s.u.t.Fatal(err)
	}
	s.cmd.Stderr = s.errs
	s.out = bufio.NewReader(pipe)
	if err := s.cmd.Start(); err != nil {
		s.u.t.Fatal(err)
	}
	s.u.t.Cleanup(func() { s.cmd.Process.Kill() })
	return s
}

// until reads lines until one holds the text.
func (s *started) until(part string) {
	s.u.t.Helper()
	for {
		l, err := s.out.ReadString('\n')
		s.seen.WriteString(l)
		if strings.Contains(l, part) {
			return
		}
		if err != nil {
			s.u.t.Fatalf("the run ended before %q: %v\n%s\n%s", part, err, s.seen.String(), s.errs)
		}
	}
}

// signal sends a signal, reads to the end and checks that it came within a generous bound.
func (s *started) signal(sig syscall.Signal) ran {
	s.u.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.u.t.Fatal(err)
	}
	return s.ends()
}

// ends reads to the end.
func (s *started) ends() ran {
	s.u.t.Helper()
	late := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	rest, _ := io.ReadAll(s.out)
	s.seen.Write(rest)
	_ = s.cmd.Wait() // the code is what counts
	return ran{s.u.t, s.seen.String(), s.errs.String(), s.cmd.ProcessState.ExitCode()}
}

func (u *user) newest() string {
	u.t.Helper()
	id, _, _ := strings.Cut(u.run("session", "list").wants(0).out, " ")
	return id
}

// bash is a call with a script.
//
//lint:ignore U1000 tests of Linux use it
func bash(script string) string { return fmt.Sprintf("call bash: {\"command\":%q}\n", script) }
