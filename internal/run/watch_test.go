package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// collecting is a collector of OTLP over HTTP that keeps what it gets.
type collecting struct {
	*httptest.Server
	mu      sync.Mutex
	posts   int
	headers []http.Header
	raw     strings.Builder
	spans   []ptrace.Span
	service string
}

func (u *user) collector() *collecting {
	c := &collecting{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posts, c.headers = c.posts+1, append(c.headers, r.Header)
		c.raw.Write(body)
		in, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(body)
		if err != nil {
			u.t.Errorf("%v: %s", err, body)
			return
		}
		for i := range in.ResourceSpans().Len() {
			rs := in.ResourceSpans().At(i)
			name, _ := rs.Resource().Attributes().Get("service.name")
			c.service = name.AsString()
			for j := range rs.ScopeSpans().Len() {
				for k := range rs.ScopeSpans().At(j).Spans().Len() {
					c.spans = append(c.spans, rs.ScopeSpans().At(j).Spans().At(k))
				}
			}
		}
	}))
	u.t.Cleanup(c.Close)
	u.env = append(u.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	return c
}

// tree is the names of spans below each other, as lines; what is below nothing of these is below
// the root.
func (c *collecting) tree(root string) (lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := map[string]bool{}
	for _, s := range c.spans {
		ids[s.SpanID().String()] = true
	}
	var walk func(up, indent string)
	walk = func(up, indent string) {
		var names []string
		for _, s := range c.spans {
			if s.ParentSpanID().String() == up {
				names = append(names, s.Name()+"\x00"+s.SpanID().String())
			}
		}
		slices.Sort(names)
		for _, n := range names {
			name, id, _ := strings.Cut(n, "\x00")
			lines = append(lines, indent+name)
			walk(id, indent+"  ")
		}
	}
	walk(root, "")
	return lines
}

func (c *collecting) named(t *testing.T, name string) ptrace.Span {
	t.Helper()
	for _, s := range c.spans {
		if s.Name() == name {
			return s
		}
	}
	t.Fatalf("there is no span %q", name)
	return ptrace.Span{}
}

// wantInside checks that no span begins before, or ends after, what it is in.
func (c *collecting) wantInside(t *testing.T) {
	t.Helper()
	at := map[pcommon.SpanID]ptrace.Span{}
	for _, s := range c.spans {
		at[s.SpanID()] = s
	}
	for _, s := range c.spans {
		if up, ok := at[s.ParentSpanID()]; ok && (s.StartTimestamp() < up.StartTimestamp() || s.EndTimestamp() > up.EndTimestamp()) {
			t.Errorf("%s (%d to %d) is not within %s (%d to %d)", s.Name(), s.StartTimestamp(), s.EndTimestamp(), up.Name(), up.StartTimestamp(), up.EndTimestamp())
		}
		if s.EndTimestamp() < s.StartTimestamp() {
			t.Errorf("%s ends before it begins", s.Name())
		}
	}
}

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// TestATurnIsATrace: turns, requests and calls of a conversation and of its subagent stand below
// each other and below what started adze, and nothing that anybody said is in what is sent.
func TestATurnIsATrace(t *testing.T) {
	u := newUser(t)
	c := u.collector()
	u.env = append(u.env, "TRACEPARENT=00-"+callerTrace+"-"+callerSpan+"-01", "OTEL_SERVICE_NAME=nightly", "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20glsa_Secret0fTheCollector")
	u.run("-p", "--permission-mode=yolo", u.script(`-- 1 --
call task: {"description":"zebra job","prompt":"Do the giraffe.","agent":"general"}
call elephant_tool: {"x":"antelope"}
usage: input=10 output=1 cache_read=5
-- 2 --
text: A walrus says it.
usage: input=7
-- general: zebra job: 1 --
call write: {"path":"okapi.txt","content":"tapir sk-ant-api03-abcdefghijklmnop\n"}
call bash: {"command":"env; printf %s $OTEL_EXPORTER_OTLP_HEADERS","description":"meerkat"}
usage: input=100 output=10
-- general: zebra job: 2 --
expect bash completed: ADZE=1
text: A lemur is done.
`), "tell the hippo sk-ant-api03-qrstuvwxyzabcdef").wants(0, "A walrus")
	want := []string{"invoke_agent adze", "  chat file", "  chat file", "  execute_tool task", "    invoke_agent general", "      chat file", "      chat file",
		"      execute_tool bash", "      execute_tool write", "  execute_tool unknown"}
	if got := c.tree(callerSpan); !slices.Equal(got, want) {
		t.Errorf("the spans are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c.wantInside(t)
	for _, s := range c.spans {
		if s.TraceID().String() != callerTrace {
			t.Errorf("%s is in the trace %s", s.Name(), s.TraceID())
		}
	}
	for _, word := range []string{"zebra", "giraffe", "elephant", "antelope", "walrus", "okapi", "tapir", "meerkat", "lemur", "hippo", "sk-ant", "glsa", u.home, u.dir, "script.txtar", "ADZE=1"} {
		if strings.Contains(c.raw.String(), word) {
			t.Errorf("%q was sent", word)
		}
	}
	if c.service != "nightly" || c.headers[0].Get("Authorization") != "Bearer glsa_Secret0fTheCollector" {
		t.Errorf("service %q, headers %v", c.service, c.headers[0])
	}
	got := c.named(t, "chat file").Attributes().AsRaw()
	if got["gen_ai.operation.name"] != "chat" || got["gen_ai.provider.name"] != "script" || got["gen_ai.request.model"] != "file" {
		t.Errorf("a request has %v", got)
	}
	sum := int64(0)
	for _, s := range c.spans {
		if v, ok := s.Attributes().Get("gen_ai.usage.input_tokens"); ok {
			sum += v.Int()
		}
	}
	if sum != 10+5+7+100 {
		t.Errorf("%d tokens of input were told", sum)
	}
	if unknown := c.named(t, "execute_tool unknown"); unknown.Status().Code() != ptrace.StatusCodeError {
		t.Error("a call that was not possible has not failed")
	}
	logged := u.run("audit", "show").out + fmt.Sprint(u.run("session", "export", "--output", "-").out)
	if strings.Contains(logged, "glsa_Secret") {
		t.Error("a command saw the key of the collector")
	}
}

func TestNothingIsSentUnlessItIsWanted(t *testing.T) {
	for name, env := range map[string][]string{
		"turned off":      {"OTEL_SDK_DISABLED=true"},
		"no exporter":     {"OTEL_TRACES_EXPORTER=none"},
		"sampled away":    {"OTEL_TRACES_SAMPLER=always_off"},
		"the caller's no": {"TRACEPARENT=00-" + callerTrace + "-" + callerSpan + "-00"},
		"no collector":    {"OTEL_EXPORTER_OTLP_ENDPOINT="},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			c := u.collector()
			u.env = append(u.env, env...)
			u.run("-p", u.script("-- 1 --\ntext: hello\n"), "hi").wants(0, "hello")
			if c.posts != 0 {
				t.Errorf("%d requests", c.posts)
			}
		})
	}
}

// TestACollectorThatIsNotThereCostsANote: the answer and the exit code are those of any run.
func TestACollectorThatIsNotThereCostsANote(t *testing.T) {
	for env, says := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1":          "! traces: 2 spans did not reach http://127.0.0.1:1/v1/traces",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://u:sesame@127.0.0.1:1": "! traces: 2 spans did not reach http://127.0.0.1:1/v1/traces",
		"OTEL_EXPORTER_OTLP_ENDPOINT=nonsense":                    "no traces are sent: the address of the OTLP collector",
		"OTEL_TRACES_EXPORTER=zipkin":                             "",
	} {
		u := newUser(t)
		u.env = append(u.env, env)
		r := u.run("-p", u.script("-- 1 --\ntext: hello\n"), "hi").wants(0)
		if r.out != "hello\n" || !strings.Contains(r.err, says) || strings.Contains(r.err, "sesame") {
			t.Errorf("%s: %q %q", env, r.out, r.err)
		}
	}
	u := newUser(t)
	u.env = append(u.env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc")
	u.run("-p", u.script("-- 1 --\ntext: hello\n"), "hi").wants(0, "hello", `the OTLP protocol "grpc" is not built; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL`)
}

// TestATaskOfABatchIsOneTrace, and its adze has the user's keys, for models and for the
// collector, which git and commands have not.
func TestATaskOfABatchIsOneTrace(t *testing.T) {
	needs(t, "git")
	u := newUser(t)
	c := u.collector()
	var keys []string
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")
	})
	u.env = append(u.env, "OTEL_EXPORTER_OTLP_HEADERS=x-key=glsa_Secret0fTheCollector")
	repo := u.repository("r")
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"a\",\"repo\":%[1]q,\"prompt\":\"hi\"}\n{\"id\":\"b\",\"repo\":%[1]q,\"command\":\"env\"}\n", repo))
	u.run("batch", "t.jsonl", "--jobs", "1", "--keep", "all", "--", "--model", "openai/m", "--permission-mode", "yolo").wants(0)
	if !slices.Equal(keys, []string{"Bearer sk-secret-of-the-test"}) {
		t.Errorf("the model was asked with %q", keys)
	}
	tasks := strings.SplitAfter(strings.Join(c.tree(""), "\n")+"\nadze.task\n", "adze.task\n")
	slices.Sort(tasks)
	if want := []string{"", "  invoke_agent adze\n    chat m\nadze.task\n", "  invoke_agent adze\n    execute_tool bash\nadze.task\n", "adze.task\n"}; !slices.Equal(tasks, want) {
		t.Errorf("the spans are %q\nwant %q", tasks, want)
	}
	traces := map[string]bool{}
	for _, s := range c.spans {
		traces[s.TraceID().String()] = true
	}
	if len(traces) != 2 {
		t.Errorf("%d traces for two tasks: %v", len(traces), slices.Collect(maps.Keys(traces)))
	}
	c.wantInside(t)
	for _, h := range c.headers {
		if h.Get("X-Key") != "glsa_Secret0fTheCollector" {
			t.Errorf("the collector was asked with %v", h)
		}
	}
	raw, _ := json.Marshal(u.batchResults(filepath.Join(u.dir, "t.batch")))
	for _, secret := range []string{"glsa_Secret", "sk-secret"} {
		if strings.Contains(string(raw)+c.raw.String(), secret) {
			t.Errorf("%s is in a result or in a span", secret)
		}
	}
}
