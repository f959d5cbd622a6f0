package conformance_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// strict is what the real servers refuse: an unknown or repeated id, a call without exactly one
// result directly after it, results out of order, a conversation that does not begin with the user.
func (r Request) strict() error {
	used := map[string]bool{}
	var open []Call
	started := false
	for i, item := range r.Items {
		if item.Kind != "result" && len(open) > 0 {
			return fmt.Errorf("item %d: call %s has no result", i, open[0].ID)
		}
		switch item.Kind {
		case "user":
			started = true
		case "assistant":
			if !started {
				return fmt.Errorf("item %d: the assistant begins", i)
			}
			for _, c := range item.Calls {
				if used[c.ID] || c.ID == "" {
					return fmt.Errorf("item %d: id %q is not unique", i, c.ID)
				}
				used[c.ID] = true
				var object map[string]any
				if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil {
					return fmt.Errorf("item %d: arguments of %s: %w", i, c.ID, err)
				}
			}
			open = item.Calls
		case "result":
			if len(open) == 0 || open[0].ID != item.CallID {
				return fmt.Errorf("item %d: result of %q, open are %v", i, item.CallID, open)
			}
			open = open[1:]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last call %s has no result", open[0].ID)
	}
	return nil
}

// strictServer answers the n-th request with the n-th answer and refuses what a real server would.
type strictServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	seen   []Request
}

func newStrict(t *testing.T, w Wire, reply func(n int) Answer) *strictServer {
	s := &strictServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.Side(rw, r) {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		seen, err := w.Decode(body)
		if err == nil {
			err = seen.strict()
		}
		if err != nil {
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, w.Refusal("invalid_request_error", err.Error()))
			return
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies, s.seen = append(s.bodies, body), append(s.seen, seen)
		s.mu.Unlock()
		stream := w.Encode(reply(n))
		rw.Header().Set("Content-Type", stream.ContentType)
		send(rw, stream.Body)
	}))
	return s
}

// count counts the connections that a server takes.
func count(s *httptest.Server) *atomic.Int32 {
	var n atomic.Int32
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	return &n
}
