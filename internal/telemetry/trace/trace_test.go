package trace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"adze/internal/telemetry/trace"
)

// collector is a receiver of OTLP over HTTP: it decodes with the library of OpenTelemetry's own
// collector.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	traces   []ptrace.Traces
	answer   func(n int, w http.ResponseWriter) bool // true: it has answered
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests = append(c.requests, r)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			body, _ = io.ReadAll(z)
		}
		if c.answer != nil && c.answer(len(c.requests), w) {
			return
		}
		in, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(body)
		if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the collector cannot read it: %v\n%q", err, body)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.traces = append(c.traces, in)
	}))
	t.Cleanup(c.Close)
	return c
}

// got are the spans of all requests.
func (c *collector) got() (out []ptrace.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.traces {
		for i := range t.ResourceSpans().Len() {
			for j := range t.ResourceSpans().At(i).ScopeSpans().Len() {
				all := t.ResourceSpans().At(i).ScopeSpans().At(j).Spans()
				for k := range all.Len() {
					out = append(out, all.At(k))
				}
			}
		}
	}
	return out
}

func tracer(t *testing.T, env map[string]string) *trace.Tracer {
	t.Helper()
	s, notes, err := trace.FromEnv(func(name string) string { return env[name] }, "1.2")
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	return trace.New(s)
}

func example(tr *trace.Tracer) trace.Span {
	p := tr.Begin()
	up := p.Span
	p.Span = trace.NewSpanID()
	return trace.Span{Place: p, ParentID: up, Name: "chat m", Kind: trace.Client, Start: time.Unix(1, 5), End: time.Unix(2, 7), Failed: true, Attributes: []trace.Attribute{
		{Key: "s", Value: "ä\n\""}, {Key: "i", Value: int64(-1 << 62)}, {Key: "f", Value: 0.25}, {Key: "b", Value: true}, {Key: "a", Value: []string{"x", ""}}, {Key: "zero", Value: int64(0)}, {Key: "empty", Value: ""}, {Key: "no", Value: false},
	}}
}

// Each way to send it arrives as the same, with resource, headers and the place below what started
// the process.
func TestTheCollectorsOwnLibraryReadsWhatIsSent(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"unnamed": {}, "named": {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
		"compressed": {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, "both": {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			env := map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/base/", "OTEL_EXPORTER_OTLP_HEADERS": "X-Key=a%20b, x-other=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-other=2",
				"OTEL_SERVICE_NAME": "nightly", "OTEL_RESOURCE_ATTRIBUTES": "team=core,service.name=other,place=a%2Cb",
				"TRACEPARENT": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "TRACESTATE": "v=1",
			}
			for k, v := range more {
				env[k] = v
			}
			tr := tracer(t, env)
			sent := example(tr)
			tr.Add(sent)
			if note := tr.Close(t.Context()); note != "" {
				t.Fatal(note)
			}
			r := c.requests[0]
			if r.Method != "POST" || r.URL.Path != "/base/v1/traces" || r.Header.Get("X-Key") != "a b" || r.Header.Get("X-Other") != "2" {
				t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
			}
			about := c.traces[0].ResourceSpans().At(0).Resource().Attributes().AsRaw()
			for key, want := range map[string]any{"service.name": "nightly", "team": "core", "place": "a,b", "service.version": "1.2", "telemetry.sdk.language": "go"} {
				if about[key] != want {
					t.Errorf("the resource has %s %v, want %v", key, about[key], want)
				}
			}
			s := c.got()[0]
			if s.TraceID().String() != "4bf92f3577b34da6a3ce929d0e0e4736" || s.ParentSpanID().String() != "00f067aa0ba902b7" || s.SpanID().String() != sent.Span.String() || s.TraceState().AsRaw() != "v=1" {
				t.Errorf("it stands at %s %s %s %s", s.TraceID(), s.ParentSpanID(), s.SpanID(), s.TraceState().AsRaw())
			}
			if s.Name() != "chat m" || s.Kind() != ptrace.SpanKindClient || s.StartTimestamp() != 1e9+5 || s.EndTimestamp() != 2e9+7 || s.Status().Code() != ptrace.StatusCodeError || s.Flags()&1 != 1 {
				t.Errorf("it is %s %s %d %d %s %d", s.Name(), s.Kind(), s.StartTimestamp(), s.EndTimestamp(), s.Status().Code(), s.Flags())
			}
			want := map[string]any{"s": "ä\n\"", "i": int64(-1 << 62), "f": 0.25, "b": true, "a": []any{"x", ""}, "zero": int64(0), "empty": "", "no": false}
			if got := s.Attributes().AsRaw(); !reflect.DeepEqual(got, want) {
				t.Errorf("its attributes are %v\nwant %v", got, want)
			}
		})
	}
}

func TestTheAddressForTracesIsUsedAsItIs(t *testing.T) {
	c := newCollector(t)
	tr := tracer(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/own"})
	tr.Add(example(tr))
	tr.Close(t.Context())
	if path := c.requests[0].URL.Path; path != "/own" {
		t.Errorf("the path is %s", path)
	}
}

func TestWhatIsNotSentIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(n int, w http.ResponseWriter) bool
		note   string
		posts  int
	}{
		"busy once": {func(n int, w http.ResponseWriter) bool {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n == 1
		}, "", 2},
		"refused": {func(_ int, w http.ResponseWriter) bool { w.WriteHeader(http.StatusUnauthorized); return true }, "HTTP 401", 1},
		"partly": {func(_ int, w http.ResponseWriter) bool {
			_, _ = w.Write([]byte("\x0a\x05\x08\x01\x12\x01x")) // partial_success with rejected_spans 1 and a message
			return true
		}, "refused 1", 1},
		"all":     {func(_ int, w http.ResponseWriter) bool { _, _ = w.Write([]byte("\x0a\x00")); return true }, "", 1},
		"no OTLP": {func(_ int, w http.ResponseWriter) bool { _, _ = w.Write([]byte("\n")); return true }, "", 1},
		"redirects": {func(_ int, w http.ResponseWriter) bool {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
			return true
		}, "HTTP 302", 1},
	} {
		t.Run(name, func(t *testing.T) {
			to := newCollector(t)
			to.answer = c.answer
			tr := tracer(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": strings.Replace(to.URL, "http://", "http://user:sesame@", 1)})
			tr.Add(example(tr))
			note := tr.Close(t.Context())
			if (note == "") != (c.note == "") || !strings.Contains(note, c.note) || strings.Contains(note, "sesame") {
				t.Errorf("note %q, want %q", note, c.note)
			}
			if len(to.requests) != c.posts {
				t.Errorf("%d requests, want %d", len(to.requests), c.posts)
			}
		})
	}
}

// Handing in spans never waits for a collector, and the end waits as long as it was told.
func TestADeadCollectorHoldsNobodyUp(t *testing.T) {
	hang := make(chan struct{})
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer to.Close()
	defer close(hang)
	tr := tracer(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": to.URL})
	const many = 20000
	one := example(tr)
	for range many { // it would take a day, were each to wait
		tr.Add(one)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if note := tr.Close(ctx); !strings.HasPrefix(note, "20000 spans did not reach http://127.0.0.1") {
		t.Errorf("note %q", note)
	}
}

func TestNothingRunsWithoutASpan(t *testing.T) {
	before := goleak.IgnoreCurrent()
	tr := tracer(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_SAMPLER": "always_off"})
	tr.Add(example(tr)) // not sampled
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if note := tr.Close(t.Context()); note != "" {
		t.Error(note)
	}
}
