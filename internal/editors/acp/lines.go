package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/text/jsontext"
	"adze/internal/text/lineread"
)

// maxLine bounds a message in bytes, so that an editor that never ends one does not fill the
// memory. It is that of the protocol's other implementations in Go: what we would take beyond it,
// they could not send.
const maxLine = 10 << 20

// lines are the messages of both sides, one a line. A line that is no message is answered here, and
// the next one is read.
type lines struct {
	in      *lineread.Reader
	out     io.Writer
	atEnd   func() // answers what still runs, before the connection knows that its input ended
	writing sync.Mutex
}

func newLines(in io.Reader, out io.Writer, atEnd func()) *lines {
	return &lines{in: lineread.New(in, maxLine), out: out, atEnd: atEnd}
}

// Close does nothing: no read of stdin can be ended.
func (l *lines) Close() error { return nil }

// WriteObject writes one message.
func (l *lines) WriteObject(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.out.Write(append(raw, '\n'))
	return err
}

// ReadObject reads the next message.
func (l *lines) ReadObject(v any) error {
	for {
		line, err := l.in.Next()
		if err != nil && !errors.Is(err, lineread.ErrLong) {
			l.atEnd()
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var refusal *jsonrpc2.Error
		if err != nil {
			refusal = refuse(jsonrpc2.CodeInvalidRequest, fmt.Sprintf("a message of more than %d MiB is not read; send a smaller picture, or a link to the file", maxLine>>20))
		} else if refusal = parse(line, v); refusal == nil {
			return nil
		}
		reflect.ValueOf(v).Elem().SetZero() // of a part that was read
		if err := l.WriteObject(refused{"2.0", idIn(line), refusal}); err != nil {
			return err
		}
	}
}

// refused is the answer to what is no message, whose ID may be null.
type refused struct {
	Version string          `json:"jsonrpc"`
	ID      *jsonrpc2.ID    `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

// parse reads one message.
func parse(line []byte, v any) *jsonrpc2.Error {
	if !utf8.Valid(line) || !json.Valid(line) {
		return refuse(jsonrpc2.CodeParseError, "the line is no JSON; a message is one JSON object on one line")
	}
	var m struct {
		Version string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
	}
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		return refuse(jsonrpc2.CodeInvalidRequest, "a message is one JSON object on one line, and batches are not taken: "+jsontext.Problem(err))
	case m.Version != "2.0":
		return refuse(jsonrpc2.CodeInvalidRequest, `a message says "jsonrpc": "2.0"`)
	case m.ID != nil && idIn(line) == nil:
		return refuse(jsonrpc2.CodeInvalidRequest, "an id is a string or a whole number, not below 0")
	}
	if err := json.Unmarshal(line, v); err != nil {
		return refuse(jsonrpc2.CodeInvalidRequest, "the message is none of JSON-RPC 2.0: "+jsontext.Problem(err))
	}
	return nil
}

// idIn finds the id of a request in what there is of its line, so that who waits for the answer
// gets it; if nil, it has none.
func idIn(line []byte) *jsonrpc2.ID {
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') || !utf8.Valid(line) {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
		if key == "id" && string(value) != "null" {
			id := new(jsonrpc2.ID)
			if json.Unmarshal(value, id) != nil {
				return nil
			}
			return id
		}
	}
	return nil
}
