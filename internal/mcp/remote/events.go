package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// events passes on a stream of server-sent events, whole ones alone. One that is longer than a
// frame ends the stream: with an answer in its place where a call waits for one.
type events struct {
	body  io.ReadCloser
	lines *bufio.Reader
	flood *flood
	call  json.RawMessage

	ready bytes.Buffer // whole events that were not read yet
	event []byte       // the one that is coming
	err   error        // how the stream ended
}

func newEvents(body io.ReadCloser, f *flood, call json.RawMessage) *events {
	return &events{body: body, lines: bufio.NewReaderSize(body, 32<<10), flood: f, call: call}
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
	first := len(e.event) == 0 || e.event[len(e.event)-1] == '\n'
	blank := first && len(bytes.TrimRight(part, "\r\n")) == 0 && len(part) > 0
	e.event = append(e.event, part...)
	ended := 0
	if blank {
		ended = 1
	}
	switch {
	case !e.flood.take(len(part), ended):
		e.end(refuse("", "the server floods with messages"))
	case len(e.event) > MaxFrame+1024: // the names of fields beside the message
		if e.call != nil {
			e.ready.Write(append(append([]byte("data: "), instead(e.call)...), "\n\n"...))
		}
		e.end(io.EOF)
	case blank:
		e.ready.Write(e.event)
		e.event = e.event[:0]
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		e.ready.Write(e.event) // a last event without its blank line: the reader's to judge
		e.end(err)
	}
}

// end closes the stream at once: what follows would be read and thrown away for as long as it
// comes.
func (e *events) end(err error) {
	e.err, e.event = err, nil
	e.body.Close()
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
