package wire

import (
	"bytes"
	"io"
	"strings"
)

// Single returns the whole body from a server that answers with one JSON text instead of a stream.
// The body decides, the header only if it does not: gateways confuse the types.
func (a *Answer) Single() (body []byte, ok bool, err error) {
	first := a.Reply.first()
	switch json := strings.HasPrefix(a.Reply.ContentType(), "application/json"); {
	case bytes.HasPrefix(first, []byte("{")), bytes.HasPrefix(first, []byte("[")):
	case !json || isField(first):
		return nil, false, nil
	}
	body, err = io.ReadAll(io.LimitReader(a.Reply, MaxLine))
	return bytes.TrimPrefix(body, []byte(mark)), true, err
}

// isField reports whether an answer begins like an event, or is empty.
func isField(first []byte) bool {
	if len(first) == 0 || first[0] == ':' {
		return true
	}
	for _, name := range []string{"data", "event", "id", "retry"} {
		if bytes.HasPrefix(first, []byte(name)) || bytes.HasPrefix([]byte(name), first) {
			return true
		}
	}
	return false
}

// first returns the answer's beginning after space without consuming it. It is empty if the answer
// ended or failed, which the next Read reports.
func (r *Reply) first() []byte {
	for n := 1; ; n++ {
		head, err := r.body.Peek(n)
		first := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
		if err == nil && (len(first) == 0 || bytes.HasPrefix([]byte(mark), head)) {
			continue
		}
		head, _ = r.body.Peek(r.body.Buffered()) // no error for buffered data
		return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	}
}
