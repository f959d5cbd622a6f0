//go:build unix

package stdio

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// WatchReader calls gone once when the reader of a pipe or socket is gone, even while nothing is
// written. It stops with ctx. For other files it does nothing: a file on disk has no reader.
func WatchReader(ctx context.Context, out *os.File, gone func()) {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	end, wake, err := os.Pipe()
	if err != nil { // out is closed; the next write fails
		return
	}
	fd := int32(out.Fd())
	stop := context.AfterFunc(ctx, func() { wake.Close() })
	go func() {
		defer end.Close()
		for {
			watched := []unix.PollFd{{Fd: fd}, {Fd: int32(end.Fd())}} // errors and hangups are always reported
			if _, err := unix.Poll(watched, -1); err == unix.EINTR {
				continue
			}
			if stop() {
				wake.Close()
				if watched[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
					gone()
				}
			}
			return
		}
	}()
}
