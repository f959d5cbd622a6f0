package cmd_test

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adze/internal/run"
	"adze/internal/testkit/llmtest"
	"adze/internal/testkit/lsptest"
	"adze/internal/testkit/mcptest"
)

// patience ends a wait for what will never be. It decides no test that passes, however busy the
// machine is.
const patience = 2 * time.Minute

// waitFor looks until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !eventually(holds) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// eventually looks until a condition holds, and leaves the processor to what it waits for.
func eventually(holds func() bool) bool {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for start := time.Now(); !holds(); <-look.C {
		if time.Since(start) > patience {
			return false
		}
	}
	return true
}

func (u *user) startWith(stdin io.Reader, args ...string) *started {
	u.t.Helper()
	s := &started{u: u, cmd: u.command(args...)}
	s.cmd.Stdin = stdin
	return s.begin()
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(program + " is not installed")
	}
}

// asMain makes the test binary behave as adze.
const asMain = "ADZE_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	lsptest.Serve()
	mcptest.Serve()
	if filepath.Base(os.Args[0]) == "xdg-open" {
		browse(os.Args[1])
		return
	}
	if os.Getenv(asConformance) != "" {
		if err := asConformanceClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(asMain) != "" {
		os.Exit(run.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
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
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		fmt.Fprintln(os.Stderr, "tests wrote into the home of the user:", left, err)
		return 1
	}
	return code
}

// user is a user with an empty home and a folder to work in.
type user struct {
	t         *testing.T
	dir, home string // the workspace, and ADZE_HOME
	own       string // HOME, with what other assistants keep
	env       []string
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

// bash is a call with a script.
//
//lint:ignore U1000 tests of Linux use it
func bash(script string) string { return fmt.Sprintf("call bash: {\"command\":%q}\n", script) }

// near is a written model server of this machine: what it answers to each GET, and the chats that
// it was asked.
type near struct {
	*httptest.Server
	mu    sync.Mutex
	gets  int
	chats []string
}

func newNear(t *testing.T, answers map[string]string) *near {
	t.Helper()
	n := &near{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		defer n.mu.Unlock()
		if r.Method == http.MethodPost {
			n.chats = append(n.chats, string(body))
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"by chat"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		n.gets++
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(n.Close)
	return n
}

// Answers of the three servers with one model of 16,384 tokens.
func llamaCPP() map[string]string {
	return map[string]string{
		"/v1/models": `{"data":[{"id":"qwen.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
		"/props":     `{"default_generation_settings":{"n_ctx":16384},"chat_template_caps":{"supports_tools":true}}`,
	}
}

func vLLM() map[string]string {
	return map[string]string{"/v1/models": `{"data":[{"id":"big","owned_by":"vllm","max_model_len":16384}]}`}
}

// startOllama serves a written model, and tells the user where.
func startOllama(t *testing.T, u *user, s *llmtest.OllamaServer) *llmtest.OllamaServer {
	t.Helper()
	if s.Model == "" {
		s.Model = "qwen:7b"
	}
	if s.Tag == "" {
		s.Tag = "<tool_call>"
	}
	s.Start()
	t.Cleanup(s.Close)
	u.env = append(u.env, "OLLAMA_HOST="+s.URL, "OPENAI_BASE_URL="+s.URL+"/v1")
	return s
}

func always(text string) func(llmtest.OllamaRequest) string {
	return func(llmtest.OllamaRequest) string { return text }
}

// tree is what lies in the workspace, with contents.
func (u *user) tree() string {
	u.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, raw)
		return err
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return b.String()
}

// turns is how many model requests with calls a session of these tests takes.
const turns = 20

// spelling is one of the ways in which servers write arguments; the n-th call of a session uses the
// n-th.
func spelling(n int) string { return []string{"whole", "fragments", "empty", "object"}[n%4] }

// llama is a written Ollama: two models, of which one can call tools.
type llama struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
	first  []byte // the first request as it came
}

// showModel tells as Ollama does that models named coder can call tools.
func showModel(w http.ResponseWriter, r *http.Request) {
	var body struct{ Model, Name string }
	json.NewDecoder(r.Body).Decode(&body)
	can := `["completion"]`
	if strings.HasPrefix(body.Model+body.Name, "coder") {
		can = `["completion","tools"]`
	}
	fmt.Fprintf(w, `{"capabilities":%s,"model_info":{"general.architecture":"q","q.context_length":32768}}`, can)
}

func newLlama(t *testing.T) *llama {
	t.Helper()
	l := &llama{}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/tags", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"models":[{"name":"poet:latest","size":1},{"name":"coder:7b","size":2}]}`)
	})
	mux.HandleFunc("/api/ps", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"models":[]}`) })
	mux.HandleFunc("/api/show", showModel)
	mux.HandleFunc("/api/chat", l.chat)
	l.Server = httptest.NewServer(mux)
	t.Cleanup(l.Close)
	return l
}

func (l *llama) chat(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // a body that breaks off does not decode
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), 400)
		return
	}
	l.mu.Lock()
	if l.first == nil {
		l.first = raw
	}
	l.bodies = append(l.bodies, body)
	l.mu.Unlock()
	results := 0
	for _, m := range body["messages"].([]any) {
		if m.(map[string]any)["role"] == "tool" {
			results++
		}
	}
	line := func(message string) { fmt.Fprintf(w, `{"model":"m","message":%s,"done":false}`+"\n", message) }
	switch {
	case results >= turns:
		line(`{"role":"assistant","content":"twenty"}`)
	case spelling(results) == "empty":
		line(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"list","arguments":{}}}]}`)
	default:
		line(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a.txt","limit":` + fmt.Sprint(results+1) + `}}}]}`)
	}
	// Ollama says stop although there are calls.
	io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":9}`+"\n")
}

const pdfSkill = "---\nname: pdf\ndescription: Fill forms. Use when: forms\n---\nUse scripts/fill.py.\n"

func (u *user) read(path string) string {
	u.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(raw)
}

// homed makes a user and a function that writes files of their home.
func homed(t *testing.T) (u *user, home func(name, text string)) {
	u = newUser(t)
	return u, func(name, text string) {
		t.Helper()
		file := filepath.Join(u.own, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
