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

// maxLine limits a message, in bytes, so that an endless one does not fill the memory. Other Go
// implementations of the protocol have the same limit: they could not send more.
const maxLine = 10 << 20

// lines reads and writes messages, one a line. It answers a malformed line with an error and reads
// the next one.
type lines struct {
	in      *lineread.Reader
	out     io.Writer
	atEnd   func() // answers running requests before the connection learns that the input ended
	writing sync.Mutex
}

func newLines(in io.Reader, out io.Writer, atEnd func()) *lines {
	return &lines{in: lineread.New(in, maxLine), out: out, atEnd: atEnd}
}

// Close does nothing: a read of stdin cannot be interrupted.
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
		reflect.ValueOf(v).Elem().SetZero() // partly decoded
		if err := l.WriteObject(refused{"2.0", idIn(line), refusal}); err != nil {
			return err
		}
	}
}

// refused is the error response for a malformed message. Its ID may be null.
type refused struct {
	Version string          `json:"jsonrpc"`
	ID      *jsonrpc2.ID    `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

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

// idIn finds the request's id in a malformed line, so that its sender gets the error, or nil.
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
