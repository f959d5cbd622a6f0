package wire

import (
	"bytes"
	"io"
	"strings"
)

// Single is the whole body of a server that answers with one JSON text instead of a stream. The
// body tells, and the header only where it does not: gateways call either by the name of the other.
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

// isField reports whether an answer begins as an event does, or not at all.
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

// first is what an answer begins with after space; it stays to be read. Nothing: it ended or failed
// before, which the next Read says again.
func (r *Reply) first() []byte {
	for n := 1; ; n++ {
		head, err := r.body.Peek(n)
		first := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
		if err == nil && (len(first) == 0 || bytes.HasPrefix([]byte(mark), head)) {
			continue
		}
		head, _ = r.body.Peek(r.body.Buffered()) // no error for what is there
		return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	}
}
