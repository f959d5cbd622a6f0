package local_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/llm/local"
	"adze/session"
)

// answering calls while it answers.
type answering struct{ while func() }

func (*answering) Name() string { return "m" }

func (m *answering) Stream(context.Context, session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		if m.while != nil {
			m.while()
		}
		yield(session.Done{Stop: session.StopEnd})
	}
}

// waits counts how often a request says that it waits.
func waits(t *testing.T, p session.Provider) (n int) {
	t.Helper()
	for c := range p.Stream(t.Context(), session.Request{Model: "qwen"}) {
		if _, ok := c.(session.Waiting); ok {
			n++
		}
	}
	return n
}

// A session reports another one that is answered now, once for as long as that goes on, and nobody
// else.
func TestAnotherSessionIsReported(t *testing.T) {
	dir := t.TempDir()
	queue := func(server string, m *answering) session.Provider { return local.Queue(dir, server)(m) }
	second, elsewhere := queue("http://a", &answering{}), queue("http://b", &answering{})
	var during []int
	own := &answering{}
	first := queue("http://a", own)
	own.while = func() {
		own.while = nil
		during = append(during, waits(t, second), waits(t, second), waits(t, elsewhere), waits(t, first))
	}
	if n := waits(t, first); n != 0 || during[0] != 1 || during[1] != 0 || during[2] != 0 || during[3] != 0 {
		t.Errorf("alone it waits %d times, and others %v, want once, then not again, nothing at another server and not for itself", n, during)
	}
	if n := waits(t, second); n != 0 {
		t.Errorf("afterwards it waits %d times", n)
	}
	own.while = func() { during = append(during, waits(t, second)) }
	if waits(t, first); during[4] != 1 {
		t.Error("it does not report the next time")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 0 {
		t.Errorf("%v are left", left)
	}
	killed, _ := filepath.Glob(filepath.Join(dir, "*"))
	if err := os.WriteFile(filepath.Join(killed[0], "killed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waits(t, first)
	waits(t, elsewhere)
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 0 {
		t.Errorf("%v are left of a session that was killed", left)
	}
}
