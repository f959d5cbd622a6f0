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

// instant is a Chat Completions server that answers at once: a request with n tool results gets the n-th
// call of the plan, or a text when the plan is done. It parses nothing that it need not.
type instant struct {
	*httptest.Server
	plan        []string
	reply       func(w io.Writer)
	requests    atomic.Int64
	connections atomic.Int64
	lastBody    atomic.Int64 // bytes of the last request
	firstBody   atomic.Int64
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
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, `{"error":{"message":"only chat completions are served"}}`, http.StatusNotFound)
		return
	}
	s.requests.Add(1)
	s.firstBody.CompareAndSwap(0, int64(len(body)))
	s.lastBody.Store(int64(len(body)))
	w.Header().Set("Content-Type", "text/event-stream")
	done := bytes.Count(body, []byte(`"role":"tool"`))
	if done < len(s.plan) {
		sse(w, fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":%s}]}`, done, s.plan[done]), "tool_calls")
		return
	}
	s.reply(w)
}

func sse(w io.Writer, delta, finish string) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", delta)
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish)
}
