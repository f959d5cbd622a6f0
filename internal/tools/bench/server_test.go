//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// instant is a Chat Completions server that answers at once: a request with n tool results gets the
// n-th calls of the plan, one a line, or a text when the plan is done. It parses nothing that it
// need not.
type instant struct {
	*httptest.Server
	plan        []string
	reply       func(w io.Writer)
	requests    atomic.Int64
	connections atomic.Int64
	lastBody    atomic.Int64 // bytes of the last request
	firstBody   atomic.Int64
	allBytes    atomic.Int64 // of all requests
}

func newInstant(t testing.TB, plan ...string) *instant {
	t.Helper()
	s := &instant{plan: plan, reply: func(w io.Writer) { sse(w, `{"content":"All done."}`, "stop") }}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *instant) answer(w http.ResponseWriter, r *http.Request) {
	done, size, err := countResults(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"only chat completions are served"}}`, http.StatusNotFound)
		return
	}
	s.requests.Add(1)
	s.firstBody.CompareAndSwap(0, size)
	s.lastBody.Store(size)
	s.allBytes.Add(size)
	w.Header().Set("Content-Type", "text/event-stream")
	if done < len(s.plan) {
		var calls []string
		for i, call := range strings.Split(s.plan[done], "\n") {
			calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"call_%d","type":"function","function":%s}`, i, done+i, call))
		}
		sse(w, `{"tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls")
		return
	}
	s.reply(w)
}

// countResults counts the tool results of a request without keeping it: Linux counts the memory of
// this process into the peak of the programs it starts.
func countResults(body io.Reader) (results int, size int64, err error) {
	mark := []byte(`"role":"tool"`)
	buffer := make([]byte, 64<<10)
	kept := 0 // the end of the last piece, shorter than mark
	for {
		n, err := body.Read(buffer[kept:])
		size += int64(n)
		piece := buffer[:kept+n]
		results += bytes.Count(piece, mark)
		kept = copy(buffer, piece[max(0, len(piece)-len(mark)+1):])
		if err == io.EOF {
			return results, size, nil
		}
		if err != nil {
			return results, size, err
		}
	}
}

func sse(w io.Writer, delta, finish string) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
}
