package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"adze/internal/mcp/wire"
)

// events passes on a stream of server-sent events, whole ones alone, each as the filter has it. One
// that is longer than a frame is cut.
type events struct {
	body  io.ReadCloser
	lines *bufio.Reader
	flood *flood
	call  json.RawMessage
	in    func([]byte) []byte // what a message becomes

	ready bytes.Buffer // whole events that were not read yet
	event []byte       // the one that is coming
	long  *wire.Cutter // of an event that is longer than a frame; if nil, it is not
	size  int          // of that event, in bytes
	data  bool         // the line that is coming is one of its data
	whole bool         // the last part ended its line
	err   error        // how the stream ended
}

func newEvents(body io.ReadCloser, f *flood, call json.RawMessage, in func([]byte) []byte) *events {
	return &events{body: body, lines: bufio.NewReaderSize(body, 32<<10), flood: f, call: call, in: in, whole: true}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for e.ready.Len() == 0 && e.err == nil {
		e.line()
	}
	if e.ready.Len() > 0 {
		return e.ready.Read(p)
	}
	return 0, e.err
}

// line takes a line, or as much of it as is there at once.
func (e *events) line() {
	part, err := e.lines.ReadSlice('\n')
	first := e.whole
	e.whole = bytes.HasSuffix(part, []byte("\n"))
	blank := first && len(bytes.TrimRight(part, "\r\n")) == 0 && len(part) > 0
	if e.long == nil {
		e.event = append(e.event, part...)
	} else {
		e.cut(part, first)
	}
	ended := 0
	if blank {
		ended = 1
	}
	switch {
	case e.long != nil && e.size > maxRead:
		if e.call != nil {
			e.pass(instead(e.call))
		}
		e.end(io.EOF)
	case !e.flood.take(len(part), ended):
		e.end(refuse("", "the server floods with messages"))
	case blank && e.long != nil:
		short := e.long.Message()
		if short == nil && e.call != nil {
			short = instead(e.call)
		}
		if short != nil {
			e.pass(short)
		}
		e.long = nil
	case blank:
		e.pass(nil)
	case e.long == nil && len(e.event) > MaxFrame+1024: // the names of fields beside the message
		e.long, e.size = wire.NewCutter(MaxFrame), 0
		first := true
		for line := range bytes.Lines(e.event) {
			e.cut(line, first)
			first = true
		}
		e.event = nil
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		e.ready.Write(e.event) // a last event without its blank line: the reader's to judge
		e.end(err)
	}
}

// cut takes a part of a line of an event that is longer than a frame.
func (e *events) cut(part []byte, first bool) {
	e.size += len(part)
	if first {
		part, e.data = bytes.CutPrefix(part, []byte("data:"))
	}
	if e.data {
		_, _ = e.long.Write(part) // it never fails
	}
}

// pass hands over the event that is complete: as it came, or with this message.
func (e *events) pass(message []byte) {
	if message == nil {
		if message = dataOf(e.event); message != nil {
			if now := e.in(message); !bytes.Equal(now, message) {
				message = now
			} else {
				message = nil
			}
		}
	} else {
		message = e.in(message)
	}
	if message == nil {
		e.ready.Write(e.event)
	} else {
		for line := range bytes.Lines(e.event) { // its name and its id stay
			if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("data:")) {
				e.ready.Write(line)
			}
		}
		e.ready.WriteString("data: ")
		e.ready.Write(message)
		e.ready.WriteString("\n\n")
	}
	e.event = e.event[:0]
}

// dataOf is the data of an event where it is one line; else nil.
func dataOf(event []byte) (data []byte) {
	for line := range bytes.Lines(event) {
		rest, is := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case is && data != nil:
			return nil
		case is:
			data = bytes.TrimSpace(rest)
		}
	}
	return data
}

// end closes the stream at once: what follows would be read and thrown away for as long as it
// comes.
func (e *events) end(err error) {
	e.err, e.event = err, nil
	e.body.Close()
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
