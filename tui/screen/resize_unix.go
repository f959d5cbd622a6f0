//go:build unix

package screen

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Watch calls resized with the size and with each new one until ctx ends.
func (s *Screen) Watch(ctx context.Context, resized func(w, h int)) {
	changed := make(chan os.Signal, 1)
	changed <- syscall.SIGWINCH // it may have changed before anybody listened
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			if w, h, ok := s.Size(); ok {
				resized(w, h)
			}
		}
	}
}

// outdated reports that a frame is for a window of another width than it has by now: one for the
// new width is on its way, and where rows stand after the terminal broke them can be told only if
// none was written since.
func (s *Screen) outdated(f Frame) bool {
	w, _, ok := s.Size()
	return ok && f.W > 0 && w != f.W
}

// interpret has nothing to do: every terminal interprets escape sequences.
func interpret(uintptr) {}
