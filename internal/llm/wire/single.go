package wire

import (
	"bytes"
	"io"
	"strings"
)

// headBytes is how much of an answer is read at once to tell its kind.
const headBytes = 4 << 10

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

// mark is the byte order mark, which some servers begin with.
const mark = "\xEF\xBB\xBF"

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
	r.head = make([]byte, 0, headBytes)
	for {
		n, err := r.receive(r.head[len(r.head):cap(r.head)])
		r.head = r.head[:len(r.head)+n]
		first := bytes.TrimLeft(bytes.TrimPrefix(r.head, []byte(mark)), " \t\r\n")
		if len(first) > 0 && !bytes.HasPrefix([]byte(mark), r.head) || err != nil || len(r.head) == cap(r.head) {
			return first
		}
	}
}

// Read reads the body. Its errors are io.EOF, a *session.ProviderError, or the context's error.
func (r *Reply) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.receive(p)
}
