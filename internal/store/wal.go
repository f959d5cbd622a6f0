package store

import (
	"context"
	"fmt"
	"os"

	"modernc.org/sqlite"
)

// keptLog is how large, in bytes, the write-ahead log may be that Close leaves behind. Who opens the
// database next reads all of it: 0.2 ms for this much, against the four syncs of the disk that folding it
// in and beginning a new one cost.
const keptLog = 256 << 10

// keepLog makes Close leave the log for the next process. Nothing that was acknowledged depends on more:
// every commit in the log was synced, the next process replays it, and SQLite begins a log anew only after
// a checkpoint that syncs. So what closing copies into the database itself needs no sync.
//
// A long log, one that a failed commit may have touched, and that of a database which is about to be moved
// are folded in as SQLite does by itself: synced and removed.
func (s *Store) keepLog(ctx context.Context) error {
	info, err := os.Stat(s.path + "-wal")
	if err != nil || info.Size() > keptLog || s.frozen != nil || s.whole || s.anyLost() {
		return nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // gives it back
	err = conn.Raw(func(driver any) error {
		wal, ok := driver.(sqlite.FileControl)
		if !ok {
			return fmt.Errorf("session store %s: the driver cannot keep a log", s.path)
		}
		_, err := wal.FileControlPersistWAL("main", 1)
		return err
	})
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "PRAGMA synchronous = OFF")
	return err
}

func (s *Store) anyLost() bool {
	for _, w := range s.writers {
		if w.lost != nil {
			return true
		}
	}
	return false
}
