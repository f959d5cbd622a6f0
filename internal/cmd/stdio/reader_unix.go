//go:build unix

package stdio

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// WatchReader calls gone, once, when nobody can read any more what is written to a pipe or a
// socket, also while nothing is written. It stops with ctx. Of any other file it tells nothing: a
// file on the disk has no reader that could leave.
func WatchReader(ctx context.Context, out *os.File, gone func()) {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	end, wake, err := os.Pipe()
	if err != nil { // no file is left; the next write tells
		return
	}
	fd := int32(out.Fd())
	stop := context.AfterFunc(ctx, func() { wake.Close() })
	go func() {
		defer end.Close()
		for {
			watched := []unix.PollFd{{Fd: fd}, {Fd: int32(end.Fd())}} // errors and the end are told unasked
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
