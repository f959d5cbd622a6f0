package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/text/jsontext"
	"adze/internal/text/lineread"
)

// maxLine bounds a message in bytes, so that an editor that never ends one does not fill the
// memory. It is that of the protocol's other implementations in Go: what we would take beyond it,
// they could not send.
const maxLine = 10 << 20

// message is any message of JSON-RPC 2.0. Which fields it has says what it is.
type message struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id,omitempty"`
	Method  string            `json:"method,omitempty"`
	Params  json.RawMessage   `json:"params,omitempty"`
	Result  json.RawMessage   `json:"result,omitempty"`
	Error   *sdk.RequestError `json:"error,omitempty"`
}

// unread is a line that is no message. ID is that of the request that it was to be, as far as it
// can be known.
type unread struct {
	ID  json.RawMessage
	Err *sdk.RequestError
}

func (u *unread) Error() string { return u.Err.Message }

// lines reads messages, one a line.
type lines struct{ in *lineread.Reader }

// next is the next message; an *unread for a line that is none, after which it goes on.
func (l lines) next() (message, error) {
	for {
		line, err := l.in.Next()
		switch {
		case errors.Is(err, lineread.ErrLong):
			return message{}, &unread{idIn(line), refuse(codeInvalidRequest, fmt.Sprintf("a message of more than %d MiB is not read; send a smaller picture, or a link to the file", maxLine>>20))}
		case err == io.EOF:
			return message{}, io.EOF
		case err != nil:
			return message{}, fmt.Errorf("read stdin: %w", err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return parse(line)
		}
	}
}

// parse reads one message.
func parse(line []byte) (message, error) {
	var m message
	if !utf8.Valid(line) || !json.Valid(line) {
		return m, &unread{nil, refuse(codeParse, "the line is no JSON; a message is one JSON object on one line")}
	}
	if line[0] != '{' {
		return m, &unread{nil, refuse(codeInvalidRequest, "the line is no JSON object; a message is one JSON object on one line, and batches are not taken")}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, &unread{idIn(line), refuse(codeInvalidRequest, "the message is none of JSON-RPC 2.0: "+jsontext.Problem(err))}
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	switch {
	case m.ID != nil && !isID(m.ID):
		return m, &unread{nil, refuse(codeInvalidRequest, "an id is a string or a number")}
	case m.Version != "2.0":
		return m, &unread{m.ID, refuse(codeInvalidRequest, `a message says "jsonrpc": "2.0"`)}
	case m.Method == "" && m.ID == nil, m.Method == "" && m.Result == nil && m.Error == nil:
		return m, &unread{m.ID, refuse(codeInvalidRequest, "the message is neither a request nor an answer: it names no method")}
	}
	return m, nil
}

func isID(raw json.RawMessage) bool {
	return raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
}

// idIn finds the id of a request in what there is of its line, so that who waits for the answer
// gets it.
func idIn(line []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
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
		if key == "id" && isID(value) {
			return value
		}
	}
	return nil
}
