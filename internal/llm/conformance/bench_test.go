package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"adze/session"
)

// benchmark measures what 20,000 deltas of text cost, without a network.
func benchmark(b *testing.B, w Wire) {
	s := w.Encode(Answer{Text: strings.Repeat("token ", 20_000), Piece: 6})
	p := w.New(Options{
		BaseURL: "http://canned.test", NewID: counter(),
		HTTP: &http.Client{Transport: canned{w, http.StatusOK, http.Header{"Content-Type": {s.ContentType}}, whole(s)}},
	})
	b.ReportAllocs()
	for b.Loop() {
		deltas := 0
		for c := range p.Stream(b.Context(), question("hello")) {
			switch c := c.(type) {
			case session.Text:
				deltas++
			case session.Done:
				if c.Err != nil || deltas != 20_000 {
					b.Fatal(deltas, c.Err)
				}
			}
		}
	}
}
