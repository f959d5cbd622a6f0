// Package filelock locks files against other processes. The system takes a lock from a process that
// ends, so that none is left behind.
//
// Start reading at Try.
//
// Known limits: the locks are advisory (flock; LockFileEx on
// Windows, where they hold), and some network file systems have none.
package filelock

import (
	"errors"
	"time"
)

// ErrHeld says that another process holds the file.
var ErrHeld = errors.New("another process holds it")

// poll is the time between two tries of a wait that can be cancelled.
const poll = 10 * time.Millisecond
