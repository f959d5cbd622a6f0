package conformance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"adze/session"
)

// again: a refusal costs no connection, and a connection that the server closed costs no failure.
func again(t *testing.T, w Wire) {
	var requests atomic.Int32
	refuse := func(rw http.ResponseWriter) {
		rw.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(rw, w.Refusal("api_error", "come back"))
	}
	stream := w.Encode(Answer{Text: "Fine."})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.Side(rw, r) {
			return
		}
		if requests.Add(1)%2 == 1 {
			refuse(rw)
			return
		}
		rw.Header().Set("Content-Type", stream.ContentType)
		send(rw, stream.Body)
	}))
	conns := count(server)
	server.Start()
	defer server.Close()
	p := w.New(Options{BaseURL: server.URL, NewID: counter()})
	if conns.Load() != 0 {
		t.Error("a connection before the first request")
	}
	for n := range 6 {
		want := []session.ErrorKind{session.ServerError, ""}[n%2]
		if g := collect(t.Context(), t, p, question("hello")); g.kind() != want {
			t.Fatalf("request %d:\n%s", n, g)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	for range 3 {
		requests.Store(1)
		server.CloseClientConnections()
		if g := collect(t.Context(), t, p, question("hello")); g.done.Err != nil {
			t.Fatalf("after the server closed the kept connection:\n%s", g)
		}
	}
}

// http2: the same over HTTP/2, which hosted providers speak: one connection, and a cut is a
// failure.
func http2(t *testing.T, w Wire) {
	a := samples()["parallel"]
	stream := w.Encode(a)
	var cut atomic.Bool
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.Side(rw, r) {
			return
		}
		rw.Header().Set("Content-Type", stream.ContentType)
		if cut.Load() {
			send(rw, stream.Body[:stream.Terminal])
			panic(http.ErrAbortHandler) // resets the stream
		}
		send(rw, stream.Body)
	}))
	conns := count(server)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	p := w.New(Options{BaseURL: server.URL, HTTP: server.Client(), NewID: counter()})
	for range 3 {
		if g := collect(t.Context(), t, p, question("hello")); !equal(g, wantOf(a)) {
			t.Fatalf("got\n%s", g)
		}
	}
	cut.Store(true)
	if g := collect(t.Context(), t, p, question("hello")); g.kind() != session.NetworkError {
		t.Errorf("a stream that was reset:\n%s", g)
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
