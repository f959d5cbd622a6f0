package slot

import (
	"context"
	"iter"
	"os"
	"strings"
	"testing"

	"adze/session"
)

// model answers, and calls while it does.
type model struct{ while func() }

func (model) Name() string { return "m" }

func (m model) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		if m.while != nil {
			m.while()
		}
		yield(session.Done{Stop: session.StopEnd})
	}
}

// waits counts how often a request tells that it waits.
func waits(t *testing.T, p session.Provider) (n int) {
	t.Helper()
	for c := range p.Stream(t.Context(), session.Request{Model: "qwen"}) {
		if _, ok := c.(session.Waiting); ok {
			n++
		}
	}
	return n
}

// A session is told of another one that is answered now, once for as long as that goes on, and of
// nobody else.
func TestAnotherSessionIsToldOf(t *testing.T) {
	dir := t.TempDir()
	second := Wrap(model{}, dir, "http://a")
	elsewhere := Wrap(model{}, dir, "http://b")
	var during []int
	first := Wrap(model{while: func() {
		during = append(during, waits(t, second), waits(t, second), waits(t, elsewhere))
	}}, dir, "http://a")
	if n := waits(t, first); n != 0 {
		t.Errorf("alone it waits %d times", n)
	}
	if during[0] != 1 || during[1] != 0 || during[2] != 0 {
		t.Errorf("told %v, want once, then not again, and nothing at another server", during)
	}
	if n := waits(t, second); n != 0 {
		t.Errorf("afterwards it waits %d times", n)
	}
	waits(t, first)
	if during[3] != 1 {
		t.Error("it is not told of the next time")
	}
	own := Wrap(model{}, dir, "http://a")
	own.Provider = model{while: func() { during = append(during, waits(t, &Provider{Provider: model{}, dir: own.dir, own: own.own})) }}
	waits(t, own)
	if during[len(during)-1] != 0 {
		t.Error("a session waits for itself")
	}
	waits(t, second) // nobody is answered
	third := Wrap(model{}, dir, "http://a")
	waits(t, third) // removes those of the others
	if left, _ := os.ReadDir(first.dir); len(left) != 0 {
		t.Errorf("%v are left of a session with one request", left)
	}
	waits(t, third)
	if left, _ := os.ReadDir(first.dir); len(left) != 1 || !strings.HasPrefix(left[0].Name(), third.own) {
		t.Errorf("%v are left, want the one of the last request", left)
	}
	first.Provider = model{while: func() { during = append(during, waits(t, second)) }}
	if waits(t, first); during[len(during)-1] != 1 {
		t.Error("it is not told of a request whose file was removed before")
	}
}
