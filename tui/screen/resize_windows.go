package screen

import (
	"context"
	"time"

	"golang.org/x/sys/windows"
)

// lookEvery is the polling interval for the size: Windows reports a new one only among the keys.
const lookEvery = 250 * time.Millisecond

// Watch calls resized with the current size and each new one until ctx ends.
func (s *Screen) Watch(ctx context.Context, resized func(w, h int)) {
	each := time.NewTicker(lookEvery)
	defer each.Stop()
	var was [2]int
	for {
		if w, h, ok := s.Size(); ok && was != [2]int{w, h} {
			was = [2]int{w, h}
			resized(w, h)
		}
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
	}
}

// outdated reports whether a frame is for another width than the current one: a frame for the new
// width will follow.
func (s *Screen) outdated(f Frame) bool {
	w, _, ok := s.Size()
	return ok && f.W > 0 && w != f.W
}

// interpret enables escape sequences and UTF-8 on a console. An old console without support
// displays the sequences.
func interpret(fd uintptr) {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(fd), &mode) == nil {
		_ = windows.SetConsoleMode(windows.Handle(fd), mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.DISABLE_NEWLINE_AUTO_RETURN)
	}
	_ = windows.SetConsoleOutputCP(utf8CodePage)
}

const utf8CodePage = 65001
