package stdio

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const look = time.Second

// WatchReader calls gone once when the reader of a pipe is gone, even while nothing is written. It
// stops with ctx. For other files it does nothing.
func WatchReader(ctx context.Context, out *os.File, gone func()) {
	kind, err := windows.GetFileType(windows.Handle(out.Fd()))
	if err != nil || kind != windows.FILE_TYPE_PIPE {
		return
	}
	go func() {
		each := time.NewTicker(look)
		defer each.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-each.C:
			}
			var done uint32 // an empty write fails without a reader
			switch err := windows.WriteFile(windows.Handle(out.Fd()), nil, &done, nil); err {
			case nil:
			case windows.ERROR_NO_DATA, windows.ERROR_BROKEN_PIPE, windows.ERROR_PIPE_NOT_CONNECTED:
				if ctx.Err() == nil {
					gone()
				}
				return
			default:
				return
			}
		}
	}()
}
