package fulltext

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"adze/internal/sessiondb"
	"adze/session"
)

// A batch ends after so many entries or bytes of text: a fifth of a second, for which another
// process may have to wait.
const (
	batchEntries = 1000
	batchBytes   = 2 << 20
)

// Progress is called after each batch, with how many entries were read of how many that are to be
// read. An error ends the update; what was read until then stays.
type Progress func(done, total int64) error

// Update reads what the log got since, and forgets what was removed from it. The log is only read,
// by the connection that Open was given; tell may be nil.
func (x *Index) Update(ctx context.Context, tell Progress) error {
	return x.mended(func() error { return x.update(ctx, tell) })
}

func (x *Index) update(ctx context.Context, tell Progress) error {
	sessions, entries, err := x.logs.Totals(ctx)
	if err != nil {
		return err
	}
	var knows, read int64
	if err := x.db.QueryRowContext(ctx, "SELECT sessions, entries FROM state").Scan(&knows, &read); err != nil {
		return err
	}
	if knows == sessions && read == entries {
		return nil
	}
	todo, gone, err := x.missing(ctx)
	if err != nil {
		return err
	}
	if err := x.forget(ctx, gone); err != nil {
		return err
	}
	total, done := int64(0), int64(0)
	for _, t := range todo {
		total += t.Entries - t.read
	}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var n int64
		if todo, n, err = x.batch(ctx, todo); err != nil {
			return err
		}
		done += n
		if tell != nil {
			if err := tell(done, total); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forget takes the words of removed sessions out of the index, by their numbers, and out of its
// file. It rewrites the index: about a second for 20 MB of it.
func (x *Index) Forget(ctx context.Context, sessions ...int64) error {
	return x.mended(func() error { return x.forget(ctx, sessions) })
}

const countRead = "UPDATE state SET sessions = (SELECT count(*) FROM read), entries = (SELECT ifnull(sum(seq), 0) FROM read)"

func (x *Index) forget(ctx context.Context, sessions []int64) error {
	if len(sessions) == 0 {
		return nil
	}
	err := x.inside(ctx, func(tx *sql.Tx) error {
		for _, num := range sessions {
			if _, err := tx.ExecContext(ctx, "DELETE FROM words WHERE rowid BETWEEN ? AND ?", place(num, 0), place(num+1, 0)-1); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM read WHERE session = ?", num); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, countRead)
		return err
	})
	// A row is only marked as gone until its segment is written anew; then pages that were freed or
	// divided still hold words.
	for _, step := range []string{"INSERT INTO words (words) VALUES ('optimize')", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err == nil {
			_, err = x.db.ExecContext(ctx, step)
		}
	}
	return err
}

// unread is a session of which entries are to be read.
type unread struct {
	sessiondb.Extent
	read int64 // the last entry that was read
}

// missing compares how far the log goes with how far it was read. By their numbers, since the index
// takes rows best in their order.
func (x *Index) missing(ctx context.Context) (todo []unread, gone []int64, err error) {
	extents, err := x.logs.Extents(ctx)
	if err != nil {
		return nil, nil, err
	}
	read, err := x.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range extents {
		seq, known := read[e.Num]
		delete(read, e.Num)
		if !known || seq < e.Entries {
			todo = append(todo, unread{e, seq})
		}
	}
	return todo, slices.Sorted(maps.Keys(read)), nil
}

// read is how far each session was read.
func (x *Index) read(ctx context.Context) (map[int64]int64, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT session, seq FROM read")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]int64{}
	for rows.Next() {
		var num, seq int64
		if err := rows.Scan(&num, &seq); err != nil {
			return nil, err
		}
		out[num] = seq
	}
	return out, rows.Err()
}

// batch reads the next entries in one transaction, and returns the sessions that are left and how
// many entries it went over. The log is read inside of it: what was removed from the log before is
// not found there, and who removes it later waits to remove it here.
func (x *Index) batch(ctx context.Context, todo []unread) (left []unread, done int64, err error) {
	left = slices.Clone(todo)
	err = x.inside(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, "INSERT INTO words (rowid, body) VALUES (?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		b := &filling{tx: tx, insert: insert, logs: x.logs, most: x.most()}
		for len(left) > 0 && b.entries < b.most && b.bytes < batchBytes {
			if left[0].read, err = b.fill(ctx, left[0]); err != nil {
				return err
			}
			if left[0].read >= left[0].Entries {
				left = left[1:]
			}
		}
		done = b.entries
		_, err = tx.ExecContext(ctx, countRead)
		return err
	})
	return left, done, err
}

// filling is one batch.
type filling struct {
	tx      *sql.Tx
	insert  *sql.Stmt
	logs    *sessiondb.Store
	most    int64 // entries of it
	entries int64
	bytes   int
}

func (x *Index) most() int64 {
	if x.small > 0 {
		return x.small
	}
	return batchEntries
}

// errFull ends the reading of a session when the batch is full.
var errFull = errors.New("the batch is full")

// fill reads on in one session, and returns how far. Another process may have been there: what
// counts is how far the index says.
func (b *filling) fill(ctx context.Context, u unread) (to int64, err error) {
	var seq int64
	err = b.tx.QueryRowContext(ctx, "SELECT ifnull(max(seq), 0) FROM read WHERE session = ?", u.Num).Scan(&seq)
	if err != nil || seq >= u.Entries {
		return max(seq, u.Entries), err
	}
	to = min(u.Entries, seq+b.most-b.entries)
	cwd := ""
	err = b.logs.Range(ctx, u.Num, seq, to, append(types(), session.StartEntry), func(f sessiondb.Found) error {
		if f.Entry.Type == session.StartEntry && cwd == "" {
			cwd = session.Head{Start: f.Entry.Data}.Info().Cwd
		}
		w, ok := wordsOf(f)
		if !ok {
			return nil
		}
		body := apart(strings.ToValidUTF8(w.text, " "))
		if _, err := b.insert.ExecContext(ctx, place(u.Num, f.Seq), body); err != nil {
			return err
		}
		if b.bytes += len(body); b.bytes >= batchBytes {
			to = f.Seq
			return errFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return 0, err
	}
	b.entries += to - seq
	if known, err := b.logs.Has(ctx, u.Num); err != nil || !known {
		return u.Entries, err // removed meanwhile: nothing was read of it
	}
	_, err = b.tx.ExecContext(ctx, `INSERT INTO read (session, cwd, updated, seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, updated = excluded.updated, cwd = iif(cwd = '', excluded.cwd, cwd)`,
		u.Num, cwd, u.Updated.UnixNano(), to)
	return to, err
}

// place is the row of an entry.
func place(num, seq int64) int64 { return num<<32 | seq }

func placed(row int64) (num, seq int64) { return row >> 32, row & (1<<32 - 1) }
