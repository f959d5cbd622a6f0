package trace

import (
	"encoding/binary"
	"math"
)

// The same shapes in protobuf (opentelemetry-proto, trace/v1 and common/v1): few fields of few
// kinds, so that a library for it, which would take a millisecond of each start, is not needed.

// message is a protobuf message that grows.
type message []byte

// Kinds of fields on the wire.
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

func (r request) binary() []byte {
	var out message
	for _, rs := range r.ResourceSpans {
		var m, about message
		m = m.bytes(1, about.attributes(1, rs.Resource.Attributes))
		for _, ss := range rs.ScopeSpans {
			var within, who message
			within = within.bytes(1, who.text(1, ss.Scope.Name))
			for _, s := range ss.Spans {
				within = within.bytes(2, s.binary())
			}
			m = m.bytes(2, within)
		}
		out = out.bytes(1, m)
	}
	return out
}

func (s wireSpan) binary() message {
	var m message
	m = m.bytes(1, s.TraceID[:]).bytes(2, s.SpanID[:]).text(3, s.TraceState)
	if s.ParentID != (SpanID{}) {
		m = m.bytes(4, s.ParentID[:])
	}
	m = m.text(5, s.Name).number(6, uint64(s.Kind)).double(7, uint64(s.Start)).double(8, uint64(s.End)).attributes(9, s.Attributes)
	if s.Status != nil {
		var state message
		m = m.bytes(15, state.number(3, uint64(s.Status.Code)))
	}
	return binary.LittleEndian.AppendUint32(m.tag(16, fixed32), s.Flags)
}

func (m message) attributes(field int, all []keyValue) message {
	for _, kv := range all {
		var pair message
		m = m.bytes(field, pair.text(1, kv.Key).bytes(2, kv.Value.binary()))
	}
	return m
}

func (v anyValue) binary() (m message) {
	switch {
	case v.String != nil:
		return m.bytes(1, []byte(*v.String))
	case v.Bool != nil:
		n := uint64(0)
		if *v.Bool {
			n = 1
		}
		return m.number(2, n)
	case v.Int != nil:
		return m.number(3, uint64(*v.Int))
	case v.Double != nil:
		return m.double(4, math.Float64bits(*v.Double))
	case v.Array != nil:
		var list message
		for _, one := range v.Array.Values {
			list = list.bytes(1, one.binary())
		}
		return m.bytes(5, list)
	}
	return m
}
