//go:build unix

package stdio

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// look is how long one wait for the reader lasts, in milliseconds: how late the watch ends when
// nobody needs it any more.
const look = 1000

// WatchReader calls gone, once, when nobody can read any more what is written to a pipe or a
// socket, also while nothing is written. It stops with ctx. Of any other file it tells nothing: a
// file on the disk has no reader that could leave.
func WatchReader(ctx context.Context, out *os.File, gone func()) {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	fd := int32(out.Fd())
	go func() {
		for ctx.Err() == nil {
			watched := []unix.PollFd{{Fd: fd}} // errors and the end are told unasked
			n, err := unix.Poll(watched, look)
			switch {
			case err == unix.EINTR || err == nil && n == 0:
				continue
			case err == nil && watched[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 && ctx.Err() == nil:
				gone()
			}
			return
		}
	}()
}
