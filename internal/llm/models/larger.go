package models

import (
	"cmp"
	"strings"
	"sync"

	"adze/internal/llm/discover"
)

// larger is how a server of the user is given a larger context. Which program it is may be found
// out later.
type larger struct {
	hint  string // known from the start; nothing: by kind
	model string

	mu   sync.Mutex
	kind discover.Kind
}

func (l *larger) found(kind discover.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kind = kind
}

// program is the kind of the server that was found.
func (l *larger) program() discover.Kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kind
}

func (l *larger) how() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cmp.Or(l.hint, LargerAt(l.kind, l.model))
}

// LargerAt is how a program is given a larger context.
func LargerAt(kind discover.Kind, model string) string {
	for _, v := range vendors() {
		if kind != discover.Any && v.Tells == kind {
			return strings.ReplaceAll(v.Larger, "NAME", model)
		}
	}
	return "give the server a larger context"
}
