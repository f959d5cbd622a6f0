package wire

import (
	"bytes"
	"fmt"
	"io"
)

// Event is one server-sent event; its slices are valid until the next one is read.
type Event struct{ Name, Data []byte }

// MalformedError is a line that is no part of an event stream.
type MalformedError struct{ Line []byte }

func (e *MalformedError) Error() string {
	return fmt.Sprintf("a line that is no event: %q", clip(string(e.Line), 120))
}

// Events reads server-sent events. Comments and pings without data are skipped; any other line that is
// no known field is a *MalformedError, because a line that is skipped may have been a part of a call.
type Events struct {
	lines *Lines
	name  []byte
	data  []byte
	has   bool
}

// NewEvents reads events from r.
func NewEvents(r io.Reader) *Events { return &Events{lines: NewLines(r)} }

// Unfinished reports whether the stream stopped inside the last event, or right after it.
func (e *Events) Unfinished() bool { return e.lines.Unfinished() }

// Next returns the next event with data, or io.EOF. The last event needs no blank line after it.
func (e *Events) Next() (Event, error) {
	e.name, e.data, e.has = e.name[:0], e.data[:0], false
	for {
		line, err := e.lines.Next()
		if err == io.EOF && e.has {
			return Event{e.name, e.data}, nil
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if e.has {
				return Event{e.name, e.data}, nil
			}
			e.name = e.name[:0]
			continue
		}
		if err := e.field(line); err != nil {
			if e.Unfinished() && begins(line) {
				return Event{}, io.EOF // cut inside the name of a field
			}
			return Event{}, err
		}
	}
}

// begins reports whether a line is the beginning of a field's name.
func begins(line []byte) bool {
	for _, name := range []string{"data", "event", "id", "retry"} {
		if bytes.HasPrefix([]byte(name), line) {
			return true
		}
	}
	return false
}

func (e *Events) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return e.add(value)
	case "event":
		e.name = append(e.name[:0], value...)
	case "", "id", "retry":
		// A comment starts with the colon.
	default:
		return &MalformedError{bytes.Clone(line)}
	}
	return nil
}

func (e *Events) add(value []byte) error {
	if len(e.data)+len(value) > MaxLine {
		return ErrLong
	}
	if e.has {
		e.data = append(e.data, '\n')
	}
	e.data = append(e.data, value...)
	e.has = true
	return nil
}
