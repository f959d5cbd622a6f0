//go:build unix

package screen

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Watch calls resized with the current size and each new one until ctx ends.
func (s *Screen) Watch(ctx context.Context, resized func(w, h int)) {
	changed := make(chan os.Signal, 1)
	changed <- syscall.SIGWINCH // the size may have changed before Notify
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

// outdated reports whether a frame is for another width than the current one: a frame for the new
// width will follow, and the positions of wrapped rows are known only if none was written since.
func (s *Screen) outdated(f Frame) bool {
	w, _, ok := s.Size()
	return ok && f.W > 0 && w != f.W
}

// interpret does nothing: every terminal interprets escape sequences.
func interpret(uintptr) {}
