package trace

import (
	"encoding/binary"
	"math"
)

// OTLP messages in protobuf (opentelemetry-proto, trace/v1 and common/v1). They have few fields and
// types, so a library, which would add a millisecond to each start, is not needed.

// message is a protobuf message under construction.
type message []byte

// Wire types.
const (
	varint  = 0
	fixed64 = 1
	counted = 2
	fixed32 = 5
)

func (m message) tag(field, kind int) message {
	return binary.AppendUvarint(m, uint64(field<<3|kind))
}

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(m.tag(field, counted), uint64(len(b)))
	return append(m, b...)
}

func (m message) text(field int, s string) message {
	if s == "" {
		return m
	}
	return m.bytes(field, []byte(s))
}

func (m message) number(field int, n uint64) message {
	return binary.AppendUvarint(m.tag(field, varint), n)
}

func (m message) double(field int, n uint64) message {
	return binary.LittleEndian.AppendUint64(m.tag(field, fixed64), n)
}

const (
	sampledFlag  = 0x01
	statusFailed = 2
)

func requestOf(about []Attribute, spans []Span) []byte {
	var out, whole, scope message
	scope = scope.bytes(1, message{}.text(1, "adze"))
	for _, s := range spans {
		scope = scope.bytes(2, s.message())
	}
	whole = whole.bytes(1, message{}.attributes(1, about)).bytes(2, scope)
	return out.bytes(1, whole)
}

func (s Span) message() (m message) {
	m = m.bytes(1, s.Trace[:]).bytes(2, s.Span[:]).text(3, s.State)
	if s.ParentID != (SpanID{}) {
		m = m.bytes(4, s.ParentID[:])
	}
	m = m.text(5, s.Name).number(6, uint64(s.Kind)).double(7, uint64(s.Start.UnixNano())).double(8, uint64(s.End.UnixNano())).attributes(9, s.Attributes)
	if s.Failed {
		m = m.bytes(15, message{}.number(3, statusFailed))
	}
	return binary.LittleEndian.AppendUint32(m.tag(16, fixed32), sampledFlag)
}

func (m message) attributes(field int, all []Attribute) message {
	for _, a := range all {
		m = m.bytes(field, message{}.text(1, a.Key).bytes(2, valueOf(a.Value)))
	}
	return m
}

func valueOf(v any) (m message) {
	switch v := v.(type) {
	case string:
		return m.bytes(1, []byte(v))
	case bool:
		n := uint64(0)
		if v {
			n = 1
		}
		return m.number(2, n)
	case int64:
		return m.number(3, uint64(v))
	case float64:
		return m.double(4, math.Float64bits(v))
	case []string:
		var list message
		for _, one := range v {
			list = list.bytes(1, valueOf(one))
		}
		return m.bytes(5, list)
	}
	return m
}

// rejected returns the number of rejected spans in a response; 0 if it does not say.
func rejected(answer []byte) int64 {
	if len(answer) == 0 || answer[0] != 1<<3|counted {
		return 0
	}
	_, n := binary.Uvarint(answer[1:])
	if n <= 0 || len(answer) < n+2 || answer[n+1] != 1<<3|varint {
		return 0
	}
	count, _ := binary.Uvarint(answer[n+2:])
	return int64(count)
}
