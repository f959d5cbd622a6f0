package run

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adze/internal/cmd"
	"adze/internal/llm/anthropic"
	"adze/internal/llm/credentials"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/run/process"
	"adze/internal/stream"
	"adze/session"
)

// secret is the key of all these runs. Every server repeats it in what it says.
const plantedKey = "sk-secret-of-the-table-0123456789"

// wireFormat is one of them: how a run reaches it, and how it writes a failure.
type wireFormat struct {
	model    string
	env      map[string]string // %s is the server's address
	failure  func(status int, kind, text string) string
	half     string // an answer that breaks off
	refused  string // an answer that a filter ended; if empty, the format has none
	tooLong  string
	provider func(client *http.Client, base string, idle time.Duration) session.Provider
}

func formats() map[string]wireFormat {
	chat := func(_ int, kind, text string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q}}`, text, kind, kind)
	}
	google := func(status int, kind, text string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, status, text, strings.ToUpper(kind))
	}
	const fitsNot = "This model's maximum context length is 8192 tokens, however you requested 9000"
	return map[string]wireFormat{
		"chat": {
			model: "openai/m", env: map[string]string{"OPENAI_API_KEY": plantedKey, "OPENAI_BASE_URL": "%s/v1"}, failure: chat, tooLong: fitsNot,
			half:    `data: {"choices":[{"index":0,"delta":{"content":"half"}}]}` + "\n\n",
			refused: `data: {"choices":[{"index":0,"delta":{"content":"I"},"finish_reason":"content_filter"}]}` + "\n\ndata: [DONE]\n\n",
			provider: func(c *http.Client, base string, idle time.Duration) session.Provider {
				return openai.New(openai.Options{BaseURL: base + "/v1", Key: plantedKey, HTTP: c, Idle: idle})
			},
		},
		"chat of a local server": {
			model: "llamacpp/m", env: map[string]string{"LLAMA_API_KEY": plantedKey, "LLAMACPP_BASE_URL": "%s/v1"}, failure: chat, tooLong: "the request exceeds the available context size",
			half:    `data: {"choices":[{"index":0,"delta":{"content":"half"}}]}` + "\n\n",
			refused: `data: {"choices":[{"index":0,"delta":{"content":"I"},"finish_reason":"content_filter"}]}` + "\n\ndata: [DONE]\n\n",
		},
		"responses": {
			model: "responses/m", env: map[string]string{"OPENAI_API_KEY": plantedKey, "OPENAI_BASE_URL": "%s/v1"}, failure: chat, tooLong: fitsNot,
			half:    `data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"half"}` + "\n\n",
			refused: `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}` + "\n\n",
			provider: func(c *http.Client, base string, idle time.Duration) session.Provider {
				return responses.New(responses.Options{BaseURL: base + "/v1", Key: plantedKey, HTTP: c, Idle: idle})
			},
		},
		"messages": {
			model: "anthropic/m", env: map[string]string{"ANTHROPIC_API_KEY": plantedKey, "ANTHROPIC_BASE_URL": "%s"},
			failure: func(_ int, kind, text string) string {
				return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, text)
			},
			tooLong: "prompt is too long: 210000 tokens > 200000 maximum",
			half: "event: message_start\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}` + "\n\n" +
				"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}` + "\n\n",
			refused: "event: message_start\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}` + "\n\n" +
				"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":1}}` + "\n\n" +
				"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n",
			provider: func(c *http.Client, base string, idle time.Duration) session.Provider {
				return anthropic.New(anthropic.Options{BaseURL: base, Key: plantedKey, HTTP: c, Idle: idle})
			},
		},
		"gemini": {
			model: "gemini/m", env: map[string]string{"GEMINI_API_KEY": plantedKey, "GEMINI_BASE_URL": "%s"}, failure: google,
			tooLong: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
			half:    `data: {"candidates":[{"content":{"parts":[{"text":"half"}]}}]}` + "\n\n",
			refused: `data: {"candidates":[{"finishReason":"SAFETY"}]}` + "\n\n",
			provider: func(c *http.Client, base string, idle time.Duration) session.Provider {
				return gemini.New(gemini.Options{BaseURL: base, Key: plantedKey, HTTP: c, Idle: idle})
			},
		},
		"ollama": {
			model: "ollama/m", env: map[string]string{"OLLAMA_API_KEY": plantedKey, "OLLAMA_HOST": "%s"},
			failure: func(_ int, _, text string) string { return fmt.Sprintf(`{"error":%q}`, text) },
			tooLong: "the input length exceeds the context length",
			half:    `{"message":{"role":"assistant","content":"half"},"done":false}` + "\n",
			provider: func(c *http.Client, base string, idle time.Duration) session.Provider {
				return ollama.New(ollama.Options{BaseURL: base, Key: plantedKey, HTTP: c, Idle: idle})
			},
		},
	}
}

// class is one way in which a request fails, and the exit code of a run that it ends.
type class struct {
	answer func(f wireFormat) (status int, body string)
	code   int
	says   string
	asked  int64 // requests; if 0, not counted
}

// timesRetried is how often a failure that may pass is asked for, and timesBroken how often an
// answer that breaks off.
const (
	timesRetried = 5
	timesBroken  = 3
)

func classes() map[string]class {
	status := func(n int, kind, text string) func(wireFormat) (int, string) {
		return func(f wireFormat) (int, string) { return n, f.failure(n, kind, text+" "+plantedKey) }
	}
	good := func(body string) func(wireFormat) (int, string) {
		return func(wireFormat) (int, string) { return 200, body }
	}
	return map[string]class{
		"a wrong key":       {status(401, "authentication_error", "this is no key:"), 3, "this is no key", 1},
		"no access":         {status(403, "permission_error", "not for you:"), 3, "not for you", 1},
		"an unknown model":  {status(404, "model_not_found", "the model m is not found"), 3, "not found", 1},
		"too many requests": {status(429, "rate_limit_error", "slower, please"), 4, "slower, please", timesRetried},
		"overloaded":        {status(529, "overloaded_error", "overloaded"), 4, "overloaded", timesRetried},
		"a broken server":   {status(500, "server_error", "it broke"), 4, "it broke", timesRetried},
		"a bad request":     {status(400, "invalid_request_error", "no such field"), 4, "no such field", 1},
		"it does not fit":   {func(f wireFormat) (int, string) { return 400, f.failure(400, "context_length_exceeded", f.tooLong) }, 5, "", 0},
		"HTML":              {good("<!DOCTYPE html><html><body>Welcome</body></html>"), 4, "HTML page", 0},
		"garbage":           {good("\x00\x01\x02 no JSON at all\n\n"), 4, "", 0},
		"nothing":           {good(""), 4, "", 0},
		"an error that is no failure": {func(f wireFormat) (int, string) {
			return 200, "data: " + f.failure(500, "server_error", "overheated "+plantedKey) + "\n\n"
		}, 4, "", 0},
		"an answer that breaks off": {func(f wireFormat) (int, string) { return 200, f.half }, 4, "", timesBroken},
		"a refusal":                 {func(f wireFormat) (int, string) { return 200, f.refused }, 9, "refused", 1},
	}
}

// outcome is what a run in this process left.
type outcome struct {
	code     int
	out, err string
}

// runHere runs the program in this process, with no environment but the given, and without waiting
// between the attempts of a request.
func runHere(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	in, out, errs := open("in"), open("out"), open("err")
	getenv := func(name string) string {
		if name == "ADZE_HOME" {
			return home
		}
		return env[name]
	}
	a := &app{process.New(nil, cmd.Env{In: in, Out: out, Err: errs}, credentials.NewRing(getenv))}
	a.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	o := outcome{code: a.main(append(args, "--cwd", work))}
	for _, f := range []struct {
		file *os.File
		into *string
	}{{out, &o.out}, {errs, &o.err}} {
		raw, err := os.ReadFile(f.file.Name())
		if err != nil {
			t.Fatal(err)
		}
		*f.into = string(raw)
	}
	return o
}

// wants checks the code, that the user reads one sentence and hints, and that nobody reads the
// key.
func (o outcome) wants(t *testing.T, code int, says string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\n%s", o.code, code, o.err)
	}
	sentences := 0
	for line := range strings.Lines(o.err) {
		if strings.HasPrefix(line, "adze: error: ") {
			sentences++
			if len(line) > 600 || !strings.Contains(line, says) {
				t.Errorf("%q does not say %q in a line", line, says)
			}
		}
	}
	if sentences != 1 {
		t.Errorf("%d sentences:\n%s", sentences, o.err)
	}
	if strings.Contains(o.out+o.err, plantedKey) || strings.Contains(o.out+o.err, plantedKey[:14]) {
		t.Errorf("the key was shown:\n%s%s", o.out, o.err)
	}
}

func at(env map[string]string, base string) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		out[name] = strings.ReplaceAll(value, "%s", base)
	}
	return out
}

// TestEveryFailureHasItsExitCode goes through each wire format and each class of failure.
func TestEveryFailureHasItsExitCode(t *testing.T) {
	for wire, f := range formats() {
		for name, c := range classes() {
			if name == "a refusal" && f.refused == "" {
				continue
			}
			t.Run(wire+"/"+name, func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int64
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet || r.URL.Path == "/api/show" {
						w.WriteHeader(http.StatusNotFound)
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					asked.Add(1)
					status, body := c.answer(f)
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, body)
				}))
				defer s.Close()
				runHere(t, at(f.env, s.URL), "-p", "--model", f.model, "hi").wants(t, c.code, c.says)
				if c.asked > 0 && asked.Load() != c.asked {
					t.Errorf("asked %d times, want %d", asked.Load(), c.asked)
				}
			})
		}
	}
}

// TestServersThatCannotBeReached never gets to HTTP.
func TestServersThatCannotBeReached(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of each refused handshake
	secure.StartTLS()
	t.Cleanup(secure.Close) // the parallel cases outlast this function
	for wire, f := range formats() {
		for name, c := range map[string]struct{ base, says string }{
			"connection refused":    {"http://127.0.0.1:1", "connection refused"},
			"a certificate unknown": {secure.URL, "certificate"},
		} {
			t.Run(wire+"/"+name, func(t *testing.T) {
				t.Parallel()
				runHere(t, at(f.env, c.base), "-p", "--model", f.model, "hi").wants(t, 4, c.says)
			})
		}
	}
}

// Without a key, nobody is asked at a company's own address.
func TestWithoutAKeyNobodyIsAsked(t *testing.T) {
	for _, model := range []string{"openai/m", "responses/m", "anthropic/m", "gemini/m", "groq/m"} {
		runHere(t, nil, "-p", "--model", model, "hi").wants(t, 3, "no key")
	}
	runHere(t, nil, "-p", "--model", "nowhere/m", "hi").wants(t, 3, "no provider")
}

// TestFailuresOfTheNetwork needs no process: what the adapter says is sorted as a run sorts it.
func TestFailuresOfTheNetwork(t *testing.T) {
	hang := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer hang.Close()
	nameless := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "model.invalid", IsNotFound: true}}
	}}}
	expired := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &tls.CertificateVerificationError{Err: errors.New("x509: certificate has expired or is not yet valid")}
	}}}
	for wire, f := range formats() {
		if f.provider == nil {
			continue
		}
		for name, c := range map[string]struct {
			p    session.Provider
			says string
		}{
			"no such name":           {f.provider(nameless, "http://model.invalid", time.Minute), "no such host model.invalid"},
			"an expired certificate": {f.provider(expired, "https://model.invalid", time.Minute), "certificate has expired"},
			"silence":                {f.provider(nil, hang.URL, 20*time.Millisecond), "sent nothing"},
		} {
			var done session.Done
			for chunk := range c.p.Stream(t.Context(), session.Request{Model: "m"}) {
				if d, ok := chunk.(session.Done); ok {
					done = d
				}
			}
			r := session.Sort(done.Err)
			if code := stream.ExitCode(r.Cause); code != 4 || !strings.Contains(r.Message, c.says) || r.Hint == "" || strings.Contains(r.Message+r.Hint, plantedKey) {
				t.Errorf("%s, %s: exit code %d, %q, hint %q", wire, name, code, r.Message, r.Hint)
			}
		}
	}
}
