package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"adze/internal/mcp/wire"
)

// events filters a stream of server-sent events: it passes complete events only, in a form that the
// library can read.
type events struct {
	body  io.ReadCloser
	lines *bufio.Reader
	flood *flood
	call  json.RawMessage // request id that the stream answers, or nil

	ready   bytes.Buffer // complete events not read yet
	event   []byte       // partial event
	newLine bool         // the next part begins a line
	err     error        // end of the stream
}

func newEvents(body io.ReadCloser, f *flood, call json.RawMessage) *events {
	return &events{body: body, lines: bufio.NewReaderSize(body, 32<<10), flood: f, call: call, newLine: true}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for e.ready.Len() == 0 && e.err == nil {
		e.readLine()
	}
	if e.ready.Len() > 0 {
		return e.ready.Read(p)
	}
	return 0, e.err
}

// readLine reads a line, or its available part.
func (e *events) readLine() {
	part, err := e.lines.ReadSlice('\n')
	first := e.newLine
	e.newLine = bytes.HasSuffix(part, []byte("\n"))
	blank := first && len(bytes.TrimRight(part, "\r\n")) == 0 && len(part) > 0
	e.event = append(e.event, part...)
	cost := len(part)
	if blank {
		cost += eventCost
	}
	switch {
	case len(e.event) > wire.MaxMessage:
		if e.call != nil {
			e.replace(wire.TooLong(e.call))
		}
		e.end(io.EOF)
	case !e.flood.take(cost):
		e.end(Refuse("", "the server floods with messages"))
	case blank:
		e.pass()
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		e.ready.Write(e.event) // a last event without a blank line: the reader decides
		e.end(err)
	}
}

// pass hands over the complete event.
func (e *events) pass() {
	came := data(e.event)
	message := wire.Read(came)
	if bytes.Equal(message, came) {
		e.ready.Write(e.event)
		e.event = e.event[:0]
		return
	}
	e.replace(message)
}

// replace replaces the event's data; its name and id stay.
func (e *events) replace(message []byte) {
	for line := range bytes.Lines(e.event) {
		if len(bytes.TrimSpace(line)) > 0 && bytes.HasSuffix(line, []byte("\n")) && !bytes.HasPrefix(line, []byte("data:")) {
			e.ready.Write(line)
		}
	}
	e.ready.WriteString("data: ")
	e.ready.Write(message)
	e.ready.WriteString("\n\n")
	e.event = e.event[:0]
}

func data(event []byte) (out []byte) {
	for line := range bytes.Lines(event) {
		if rest, is := bytes.CutPrefix(line, []byte("data:")); is {
			if out != nil {
				out = append(out, '\n')
			}
			out = append(out, bytes.TrimRight(bytes.TrimPrefix(rest, []byte(" ")), "\r\n")...)
		}
	}
	return out
}

// end closes the stream at once, so that the rest is not read and discarded.
func (e *events) end(err error) {
	e.err, e.event = err, nil
	e.body.Close()
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
