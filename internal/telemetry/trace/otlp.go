package trace

import "strconv"

// The shapes of OTLP/JSON (specification "OTLP", "JSON Protobuf Encoding"): names in
// lowerCamelCase, ids in hex, 64-bit numbers as strings.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []wireSpan `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	wireSpan struct {
		TraceID    ID         `json:"traceId"`
		SpanID     SpanID     `json:"spanId"`
		TraceState string     `json:"traceState,omitempty"`
		ParentID   SpanID     `json:"parentSpanId,omitzero"`
		Flags      uint32     `json:"flags"`
		Name       string     `json:"name"`
		Kind       Kind       `json:"kind"`
		Start      nanos      `json:"startTimeUnixNano"`
		End        nanos      `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	status struct {
		Code int `json:"code"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		String *string     `json:"stringValue,omitempty"`
		Bool   *bool       `json:"boolValue,omitempty"`
		Int    *int64      `json:"intValue,omitempty,string"`
		Double *float64    `json:"doubleValue,omitempty"`
		Array  *arrayValue `json:"arrayValue,omitempty"`
	}
	arrayValue struct {
		Values []anyValue `json:"values"`
	}
)

const (
	sampledFlag  = 0x01
	statusFailed = 2
)

// requestOf is the body of one request.
func requestOf(about []Attribute, spans []Span) request {
	out := make([]wireSpan, len(spans))
	for i, s := range spans {
		w := wireSpan{
			TraceID: s.Trace, SpanID: s.Span, ParentID: s.Up, TraceState: s.State, Flags: sampledFlag, Name: s.Name, Kind: s.Kind,
			Start: nanos(s.Start.UnixNano()), End: nanos(s.End.UnixNano()), Attributes: keyValues(s.Attributes),
		}
		if s.Failed {
			w.Status = &status{statusFailed}
		}
		out[i] = w
	}
	return request{[]resourceSpans{{resource{keyValues(about)}, []scopeSpans{{scope{"adze"}, out}}}}}
}

// nanos are nanoseconds since 1970.
type nanos int64

// MarshalText writes a number that no JSON number holds exactly.
func (n nanos) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }

func keyValues(attributes []Attribute) []keyValue {
	out := make([]keyValue, len(attributes))
	for i, a := range attributes {
		out[i] = keyValue{a.Key, valueOf(a.Value)}
	}
	return out
}

func valueOf(v any) (out anyValue) {
	switch v := v.(type) {
	case string:
		out.String = &v
	case bool:
		out.Bool = &v
	case int64:
		out.Int = &v
	case float64:
		out.Double = &v
	case []string:
		out.Array = &arrayValue{make([]anyValue, len(v))}
		for i := range v {
			out.Array.Values[i].String = &v[i]
		}
	}
	return out
}
