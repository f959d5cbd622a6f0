//go:build unix

package screen

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Watch calls resized with each new size until ctx ends.
func (s *Screen) Watch(ctx context.Context, resized func(w, h int)) {
	changed := make(chan os.Signal, 1)
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
