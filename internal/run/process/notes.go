package process

import (
	"bytes"
	"io"
	"sync"
)

// Notes are written to stderr beside what a process does, by any goroutine of it. While an
// interface has the terminal, they are shown there instead.
type Notes struct {
	mu   sync.Mutex
	to   io.Writer
	show func(text string) // while they go aside
	kept bytes.Buffer      // since then
}

// Write writes one note.
func (n *Notes) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.show == nil {
		return n.to.Write(text)
	}
	n.kept.Write(text)
	n.show(string(text))
	return len(text), nil
}

// Aside has notes be shown by a function until end, which returns them.
func (n *Notes) Aside(show func(text string)) (end func() []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.show = show
	return func() []byte {
		n.mu.Lock()
		defer n.mu.Unlock()
		kept := bytes.Clone(n.kept.Bytes())
		n.show = nil
		n.kept.Reset()
		return kept
	}
}
