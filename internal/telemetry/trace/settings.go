package trace

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings holds the collector and the selection of spans, from OpenTelemetry's specification
// ("Environment Variable Specification", "OTLP Exporter Configuration").
type Settings struct {
	URL      string // complete address for traces
	Headers  []Attribute
	Timeout  time.Duration // per request
	Gzip     bool
	CA       string // file of trusted certificates; "" for the system's
	Resource []Attribute
	Sampler  Sampler
	Parent   Place // the process's parent span; zero if there is none
}

// usualTimeout is the specification's default.
const usualTimeout = 10 * time.Second

// Enabled reports whether spans are sent: a collector is set and nothing disables them. It is
// called at each start.
func Enabled(getenv func(string) string) bool {
	named := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_TRACES_EXPORTER") == "otlp"
	return named && !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") && getenv("OTEL_TRACES_EXPORTER") != "none"
}

// HeaderVariables returns the variables that hold collectors' keys.
func HeaderVariables() []string {
	return []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}
}

// FromEnv reads the variables. An error means that nothing can be sent and includes the next step;
// notes list ignored settings.
func FromEnv(getenv func(string) string, version string) (s Settings, notes []string, err error) {
	v := variables(getenv)
	if exporter := v("OTEL_TRACES_EXPORTER"); exporter != "" && exporter != "otlp" {
		return s, nil, fmt.Errorf("OTEL_TRACES_EXPORTER=%s is not built; it can be otlp or none", exporter)
	}
	if protocol := v.either("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return s, nil, fmt.Errorf("the OTLP protocol %q is not built; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/protobuf, and the address of the collector's HTTP port, usually 4318", protocol)
	}
	if s.URL, err = v.url(); err != nil {
		return s, nil, err
	}
	if s.Headers, err = pairs(v("OTEL_EXPORTER_OTLP_HEADERS") + "," + v("OTEL_EXPORTER_OTLP_TRACES_HEADERS")); err != nil {
		return s, nil, fmt.Errorf("the headers for OTLP are not key=value,key=value: %w", err)
	}
	s.Timeout = usualTimeout
	if ms, err := strconv.Atoi(v.either("TIMEOUT")); err == nil && ms > 0 {
		s.Timeout = time.Duration(ms) * time.Millisecond
	}
	s.Gzip, s.CA = v.either("COMPRESSION") == "gzip", v.either("CERTIFICATE")
	if v.either("CLIENT_CERTIFICATE") != "" {
		notes = append(notes, "a client certificate for OTLP is not sent")
	}
	var note string
	if s.Resource, note = v.resource(version); note != "" {
		notes = append(notes, note)
	}
	if s.Sampler, note = samplerOf(v("OTEL_TRACES_SAMPLER"), v("OTEL_TRACES_SAMPLER_ARG")); note != "" {
		notes = append(notes, note)
	}
	s.Parent, _ = ParseParent(v("TRACEPARENT"), v("TRACESTATE")) // the specification ignores a malformed one
	return s, notes, nil
}

type variables func(string) string

// either returns a setting for traces, else the one for all signals.
func (v variables) either(name string) string {
	return strings.TrimSpace(cmp.Or(v("OTEL_EXPORTER_OTLP_TRACES_"+name), v("OTEL_EXPORTER_OTLP_"+name)))
}

// url returns the address for traces: their own one unchanged, or a path below the common one.
func (v variables) url() (string, error) {
	text, own := v("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), true
	if text == "" {
		text, own = cmp.Or(v("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318"), false
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the address of the OTLP collector is not one such as http://localhost:4318")
	}
	if !own {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// shown returns the address without possible keys.
func (s Settings) shown() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the collector"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// resource describes this program; the user's attributes have priority.
func (v variables) resource(version string) (out []Attribute, note string) {
	given, err := pairs(v("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		given, note = nil, "OTEL_RESOURCE_ATTRIBUTES is not key=value,key=value and was left out"
	}
	set := func(key, value string, over bool) {
		at := slices.IndexFunc(given, func(a Attribute) bool { return a.Key == key })
		switch {
		case at < 0:
			given = append(given, Attribute{key, value})
		case over:
			given[at].Value = value
		}
	}
	if name := v("OTEL_SERVICE_NAME"); name != "" {
		set("service.name", name, true)
	}
	set("service.name", "adze", false)
	set("service.version", version, false)
	set("telemetry.sdk.name", "adze", true)
	set("telemetry.sdk.language", "go", true)
	set("telemetry.sdk.version", version, true)
	return given, note
}

// pairs parses percent-encoded key=value,key=value. The last duplicate wins.
func pairs(text string) (out []Attribute, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		if value, err = url.PathUnescape(strings.TrimSpace(value)); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("one of them is none")
		}
		out = slices.DeleteFunc(out, func(a Attribute) bool { return a.Key == key })
		out = append(out, Attribute{key, value})
	}
	return out, nil
}

// ParseParent parses the headers traceparent and tracestate (W3C Trace Context, level 1; a later
// version as far as it is compatible).
func ParseParent(parent, state string) (p Place, ok bool) {
	f := strings.Split(strings.TrimSpace(parent), "-")
	if len(f) < 4 || len(f[0]) != 2 || len(f[1]) != 32 || len(f[2]) != 16 || len(f[3]) != 2 || f[0] == "ff" || f[0] == "00" && len(f) != 4 ||
		strings.ToLower(parent) != parent {
		return p, false
	}
	version, err0 := hex.DecodeString(f[0])
	trace, err1 := hex.DecodeString(f[1])
	span, err2 := hex.DecodeString(f[2])
	flags, err3 := hex.DecodeString(f[3])
	if err := cmp.Or(err0, err1, err2, err3); err != nil || len(version) != 1 {
		return Place{}, false
	}
	copy(p.Trace[:], trace)
	copy(p.Span[:], span)
	if p.Trace == (ID{}) || p.Span == (SpanID{}) {
		return Place{}, false
	}
	const maxState = 512
	if p.Sampled = flags[0]&1 == 1; len(state) <= maxState {
		p.State = strings.TrimSpace(state)
	}
	return p, true
}

// A Sampler selects the traces to send.
type Sampler struct {
	follows bool    // use the parent's decision, if there is a parent
	share   float64 // fraction of the others
}

func (s Sampler) takes(p Place, begun bool) bool {
	if s.follows && begun {
		return p.Sampled
	}
	return s.share >= 1 || float64(binary.BigEndian.Uint64(p.Trace[8:])>>1) < s.share*(1<<63)
}

func samplerOf(name, arg string) (s Sampler, note string) {
	short, follows := strings.CutPrefix(name, "parentbased_")
	s = Sampler{follows, 1}
	switch short {
	case "":
		s.follows = true
	case "always_on":
	case "always_off":
		s.share = 0
	case "traceidratio":
		share, err := strconv.ParseFloat(arg, 64)
		if arg != "" && (err != nil || !(share >= 0 && share <= 1)) {
			return s, "OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1; all traces are sent"
		}
		if arg != "" {
			s.share = share
		}
	default:
		return Sampler{true, 1}, fmt.Sprintf("OTEL_TRACES_SAMPLER=%s is not known; all traces are sent that nobody left out", name)
	}
	return s, ""
}
