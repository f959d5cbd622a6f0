package wire

import (
	"bytes"
	"fmt"
	"io"
)

// An Event is a server-sent event; its slices are valid until the next one is read.
type Event struct{ Name, Data []byte }

// A MalformedError means a line that does not belong to an event stream.
type MalformedError struct{ Line []byte }

func (e *MalformedError) Error() string {
	return fmt.Sprintf("a line that is no event: %q", clip(string(e.Line), 120))
}

// Events reads server-sent events per the standard. It skips comments, pings, unknown fields and
// events without data. A line that cannot be a field is a *MalformedError, as is one that may be
// the rest of a broken data line, because part of a call may be lost.
type Events struct {
	lines *Lines
	name  []byte
	data  []byte
	has   bool
}

// NewEvents returns a reader of events from r.
func NewEvents(r io.Reader) *Events { return &Events{lines: NewLines(r)} }

// Unfinished reports whether the stream stopped inside the last event or right after it.
func (e *Events) Unfinished() bool { return e.lines.Unfinished() }

// Next returns the next event with data, or io.EOF. The last event needs no blank line.
func (e *Events) Next() (Event, error) {
	e.name, e.data, e.has = e.name[:0], e.data[:0], false
	for {
		line, err := e.lines.Next()
		if err == io.EOF && e.says() {
			return Event{e.name, e.data}, nil
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if e.says() {
				return Event{e.name, e.data}, nil
			}
			e.name, e.data, e.has = e.name[:0], e.data[:0], false
			continue
		}
		if err := e.field(line); err != nil {
			if e.Unfinished() && begins(line) {
				return Event{}, io.EOF // cut inside a field name
			}
			return Event{}, err
		}
	}
}

// says reports whether the current event has data.
func (e *Events) says() bool {
	switch string(e.name) {
	case "ping", "heartbeat", "keepalive", "keep-alive", "keep_alive":
		return false
	}
	return e.has && len(bytes.TrimSpace(e.data)) > 0
}

// begins reports whether a line is the beginning of a known field name.
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
	switch {
	case len(name) == 0: // a comment starts with the colon
	case name[0] == ' ': // the standard strips no leading blank, so this is an unknown field
	case bytes.EqualFold(name, []byte("data")):
		return e.add(value)
	case bytes.EqualFold(name, []byte("event")):
		e.name = append(e.name[:0], value...)
	case !isName(name) || string(name) == "error" || bytes.Contains([]byte("data"), name):
		return &MalformedError{bytes.Clone(line)}
	}
	return nil
}

// in bytes, of a skipped field
const maxName = 40

func isName(name []byte) bool {
	for i, b := range name {
		if !('a' <= b|0x20 && b|0x20 <= 'z') && (i == 0 || b != '-' && b != '_' && b != '.' && (b < '0' || b > '9')) {
			return false
		}
	}
	return len(name) <= maxName
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
