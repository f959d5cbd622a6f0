package trace_test

import (
	"strings"
	"testing"

	"adze/internal/telemetry/trace"
)

func from(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func TestSpansAreSentOnlyWhereACollectorIsNamed(t *testing.T) {
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, c := range []struct {
		env map[string]string
		on  bool
	}{
		{nil, false}, {map[string]string{"OTEL_SERVICE_NAME": "x", "TRACEPARENT": "y"}, false},
		{map[string]string{at: "http://c"}, true}, {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c"}, true},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true},
		{map[string]string{at: "http://c", "OTEL_SDK_DISABLED": "TRUE"}, false}, {map[string]string{at: "http://c", "OTEL_SDK_DISABLED": "yes"}, true},
		{map[string]string{at: "http://c", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		if got := trace.Enabled(from(c.env)); got != c.on {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}

func TestWhatIsNotBuiltIsSaid(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "http/protobuf"}, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "4318"},
		{"OTEL_TRACES_EXPORTER", "zipkin", "not built"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "such as http://"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "sesame", "key=value"}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://user:sesame@c", "such as http://"},
	} {
		_, _, err := trace.FromEnv(from(map[string]string{c.name: c.value}), "1")
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
	_, notes, err := trace.FromEnv(from(map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "nothing", "OTEL_TRACES_SAMPLER": "sometimes"}), "1")
	if err != nil || len(notes) != 2 {
		t.Errorf("%v %v", notes, err)
	}
}

// TestParents reads the examples of W3C Trace Context, good and bad.
func TestParents(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]string{
		"00-" + id + "-" + span + "-01":   "sampled",
		"00-" + id + "-" + span + "-00":   "left out",
		"00-" + id + "-" + span + "-03":   "sampled",
		"01-" + id + "-" + span + "-01-x": "sampled",
		"00-" + id + "-" + span + "-01-x": "", "ff-" + id + "-" + span + "-01": "",
		"00-" + strings.ToUpper(id) + "-" + span + "-01": "", "00-" + strings.Repeat("0", 32) + "-" + span + "-01": "",
		"00-" + id + "-0000000000000000-01": "", "00-" + id[1:] + "-" + span + "-01": "", "00-" + id + "-" + span: "", "": "",
		"00-" + id + "-" + span + "-0g": "", "0g-" + id + "-" + span + "-01": "",
	} {
		p, ok := trace.ParseParent(text, "")
		got := ""
		if ok {
			got = map[bool]string{true: "sampled", false: "left out"}[p.Sampled]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if ok && !strings.HasPrefix(p.Parent(), "00-"+id+"-"+span) {
			t.Errorf("%q is handed on as %q", text, p.Parent())
		}
	}
}

func TestSamplers(t *testing.T) {
	const on, off = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	for _, c := range []struct {
		name, arg, parent string
		least, most       int // of 1,000 traces
	}{
		{"", "", "", 1000, 1000}, {"", "", on, 1000, 1000}, {"", "", off, 0, 0},
		{"always_on", "", off, 1000, 1000}, {"always_off", "", on, 0, 0}, {"parentbased_always_off", "", "", 0, 0}, {"parentbased_always_off", "", on, 1000, 1000},
		{"traceidratio", "0.5", "", 300, 700}, {"traceidratio", "0", "", 0, 0}, {"traceidratio", "1", "", 1000, 1000}, {"traceidratio", "", "", 1000, 1000},
		{"parentbased_traceidratio", "0", on, 1000, 1000}, {"parentbased_traceidratio", "0", off, 0, 0}, {"parentbased_traceidratio", "0", "", 0, 0},
	} {
		s, _, err := trace.FromEnv(from(map[string]string{"OTEL_TRACES_SAMPLER": c.name, "OTEL_TRACES_SAMPLER_ARG": c.arg, "TRACEPARENT": c.parent}), "1")
		if err != nil {
			t.Fatal(err)
		}
		tr, n := trace.New(s), 0
		for range 1000 {
			if tr.Begin().Sampled {
				n++
			}
		}
		if n < c.least || n > c.most {
			t.Errorf("%+v: %d of 1000", c, n)
		}
	}
}
