package stdio

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// look is the time between two looks at the reader.
const look = time.Second

// WatchReader calls gone, once, when nobody can read any more what is written to a pipe, also while
// nothing is written. It stops with ctx. Of any other file it tells nothing.
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
			var done uint32 // to write nothing fails where nobody can read
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
