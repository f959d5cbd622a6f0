package process

import (
	"bytes"
	"io"
	"sync"
)

// Notes writes messages to stderr, from any goroutine. While an interface uses the terminal, it
// shows them instead.
type Notes struct {
	mu   sync.Mutex
	to   io.Writer
	show func(text string) // set while redirected
	kept bytes.Buffer      // redirected messages
}

// Write writes one message.
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

// Redirect redirects messages to show until end, which returns them.
func (n *Notes) Redirect(show func(text string)) (end func() []byte) {
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
