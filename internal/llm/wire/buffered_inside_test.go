package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

// Bodies go out whole: from where they are, or, what is not in memory in pieces, through one buffer
// that the connection keeps, where net/http makes one for each.
func TestBodiesShareABuffer(t *testing.T) {
	t.Run("in pieces", func(t *testing.T) { sendMany(t, func(b *Body) io.Reader { return b.Reader() }) })
	t.Run("from elsewhere", func(t *testing.T) {
		sendMany(t, func(b *Body) io.Reader { return struct{ io.ReadCloser }{b.Reader()} })
	})
}

func sendMany(t *testing.T, reader func(*Body) io.Reader) {
	t.Helper()
	piece := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	var body Body
	for range 4 {
		body.Add(piece)
	}
	want := bytes.Repeat(piece, 4)
	received, ports := 0, map[string]bool{}
	check := make([]byte, len(want)) // read without making anything, since this process is measured
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.ReadFull(r.Body, check); err == nil && n == len(want) && bytes.Equal(check, want) {
			received++
		}
		ports[r.RemoteAddr] = true
	}))
	defer server.Close()
	client := own(newDialer())
	defer client.CloseIdleConnections()
	send := func() {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, reader(&body))
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = body.Len()
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	send()
	const rounds = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		send()
	}
	runtime.ReadMemStats(&after)
	if received != rounds+1 || len(ports) != 1 {
		t.Errorf("%d of %d bodies came whole, over %d connections", received, rounds+1, len(ports))
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > copyBytes {
		t.Errorf("a request made %d bytes, more than the buffer alone", each)
	}
}
