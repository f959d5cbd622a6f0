package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"adze/session"
)

// The words of entries are an FTS5 table in the store's own file. The first search creates it, and
// each search adds the entries since: adding them in Append would take 2.5 to 4 times its CPU.
// Removed sessions are deleted from it in the same transaction. It can be recreated at any time, so
// damage to it costs only that.

// wordTables creates a table without content. An entry's row ID is its session's number << 32 | its
// number in the log, so the newest come first without ranking, for which bm25 would examine every
// hit.
const wordTables = `CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(body, content='', contentless_delete=1, prefix='3', tokenize="unicode61 remove_diacritics 2");
	CREATE TABLE IF NOT EXISTS indexed (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL)`

// Limits of one batch in entries and bytes of text: others may have to wait for it. The pause lets
// them in.
const (
	batchEntries = 500
	batchBytes   = 1 << 20
	batchPause   = 5 * time.Millisecond
)

// Words configure an index update.
type Words struct {
	Types []session.EntryType
	Text  func(ScanResult) string // an empty text is not indexed
	// Progress is called after each batch with the numbers of entries read and in total; optional.
	// Its error ends the update, which keeps the entries read so far.
	Progress func(done, total int64) error
	Batch    int64 // entries; 0 means the default
}

// Index adds the logs' entries since the last call.
func (s *Store) Index(ctx context.Context, w Words) error {
	return s.mendWords(ctx, func() error {
		var todo []unreadLog
		var total int64
		err := s.inside(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			if err = prepareWords(ctx, tx, s.path); err == nil {
				todo, total, err = unread(ctx, tx)
			}
			return err
		})
		most := cmp.Or(w.Batch, batchEntries)
		for done := int64(0); err == nil && len(todo) > 0; {
			b := &batch{Words: w, unread: todo, room: most}
			if err = s.inside(ctx, b.fill); err != nil {
				break
			}
			if todo, done = b.unread, done+most-b.room; w.Progress != nil {
				err = w.Progress(done, total)
			}
			if len(todo) > 0 {
				s.pause(batchPause)
			}
		}
		return err
	})
}

func (s *Store) inside(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.frozen != nil {
		return s.frozen
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after Commit
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

func prepareWords(ctx context.Context, tx *sql.Tx, store string) error {
	if there, err := hasWords(ctx, tx); err != nil || there {
		return err
	}
	dropOldIndex(store)
	_, err := tx.ExecContext(ctx, wordTables)
	return err
}

func hasWords(ctx context.Context, from asker) (there bool, err error) {
	err = from.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'words'").Scan(&there)
	return there, err
}

// dropOldIndex removes an older adze's index file next to the store.
func dropOldIndex(store string) {
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(filepath.Join(filepath.Dir(store), "search.db"+suffix)) // usually absent
	}
}

// unreadLog is a session with entries to index.
type unreadLog struct{ num, read, entries int64 }

// unread returns the sessions with new entries, by number: inserting in row order is fastest.
func unread(ctx context.Context, tx *sql.Tx) (todo []unreadLog, total int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT num, ifnull(seq, 0), entries FROM sessions LEFT JOIN indexed ON session = num
		WHERE ifnull(seq, 0) < entries ORDER BY num`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var u unreadLog
		if err := rows.Scan(&u.num, &u.read, &u.entries); err != nil {
			return nil, 0, err
		}
		todo, total = append(todo, u), total+u.entries-u.read
	}
	return todo, total, rows.Err()
}

// batch is the work of one transaction.
type batch struct {
	Words
	unread []unreadLog
	room   int64 // for entries
	bytes  int
}

func (b *batch) fill(ctx context.Context, tx *sql.Tx) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO words (rowid, body) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for len(b.unread) > 0 && b.room > 0 && b.bytes < batchBytes {
		if err := b.one(ctx, tx, insert); err != nil {
			return err
		}
	}
	return nil
}

// errFull stops reading a session when the batch is full.
var errFull = errors.New("the batch is full")

// one continues with the first remaining session. Another process may have read or removed it.
func (b *batch) one(ctx context.Context, tx *sql.Tx, insert *sql.Stmt) error {
	u := &b.unread[0]
	err := tx.QueryRowContext(ctx, "SELECT ifnull(seq, 0), entries FROM sessions LEFT JOIN indexed ON session = num WHERE num = ?", u.num).Scan(&u.read, &u.entries)
	if errors.Is(err, sql.ErrNoRows) || err == nil && u.read >= u.entries {
		b.unread = b.unread[1:]
		return nil
	}
	if err != nil {
		return err
	}
	to := min(u.entries, u.read+b.room)
	err = b.entries(ctx, tx, u.num, u.read, to, func(f ScanResult) error {
		body := b.Text(f)
		if body == "" {
			return nil
		}
		if _, err := insert.ExecContext(ctx, u.num<<32|f.Seq, body); err != nil {
			return err
		}
		if b.bytes += len(body); b.bytes >= batchBytes {
			to = f.Seq
			return errFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return err
	}
	b.room -= to - u.read
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO indexed VALUES (?, ?)", u.num, to)
	return err // a finished session is skipped the next time
}

// entries calls each for a session's entries of the indexed types after the given one.
func (b *batch) entries(ctx context.Context, tx *sql.Tx, num, after, to int64, each func(ScanResult) error) error {
	args := []any{num, after, to}
	for _, t := range b.Types {
		args = append(args, string(t))
	}
	rows, err := tx.QueryContext(ctx, `SELECT id, seq, type, time, data FROM sessions JOIN entries ON session = num
		WHERE num = ? AND seq > ? AND seq <= ? AND type IN (?`+strings.Repeat(", ?", len(b.Types)-1)+") ORDER BY seq", args...)
	if err != nil {
		return err
	}
	plain := func(_ string, err error) error { return err }
	return read(&stream{Rows: rows, texts: &texts{from: tx}, explain: plain}, nil).each(ctx, each)
}

// A Match is a query for words.
type Match struct {
	Query       string    // FTS5 syntax
	Folder      string    // of the session; empty means any
	Since       time.Time // entries of this time or later
	Skip, Limit int
}

// Matching calls each for matching entries, newest session and newest entry first. each must not
// use the store. Only entries read by Index are found.
func (s *Store) Matching(ctx context.Context, m Match, each func(ScanResult) error) error {
	return s.mendWords(ctx, func() error {
		if there, err := hasWords(ctx, s.db); err != nil || !there {
			return err
		}
		since := Nanos(m.Since)
		if m.Since.Year() > 2250 { // out of range for nanoseconds
			since = math.MaxInt64
		}
		query, args := "words MATCH ? AND s.updated >= ? AND e.time >= ?", []any{m.Query, since, since}
		if m.Folder != "" {
			query += " AND s.num IN (SELECT session FROM openings WHERE json_valid(start) AND json_extract(start, '$.cwd') = ?)"
			args = append(args, m.Folder)
		}
		query = `SELECT s.id, e.seq, e.type, e.time, e.data FROM words CROSS JOIN sessions AS s ON s.num = words.rowid >> 32
			CROSS JOIN entries AS e ON e.session = s.num AND e.seq = words.rowid & 0xffffffff
			WHERE ` + query + " ORDER BY words.rowid DESC LIMIT ? OFFSET ?"
		return read(s.stream(ctx, query, append(args, m.Limit, m.Skip)...)).each(ctx, each)
	})
}

// codeCorruptTable is SQLite's extended code for damage in the words table alone.
const codeCorruptTable = codeCorrupt | 1<<8

func damagedWords(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == codeCorruptTable
}

// mendWords runs do, and drops the words table if it is damaged.
func (s *Store) mendWords(ctx context.Context, do func() error) error {
	err := do()
	switch {
	case damagedWords(err):
		err = errors.Join(fmt.Errorf("the search index was damaged and is made anew, search again: %w", err), s.inside(ctx, dropWords))
	case codeOf(err) != 0:
		err = s.explain("search", err)
	}
	return err
}

func dropWords(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS indexed")
	return err
}

// removeWords deletes a session's words in the transaction that removes it. Rows are only marked as
// deleted until CleanWords.
func removeWords(ctx context.Context, tx *sql.Tx, num int64) error {
	there, err := hasWords(ctx, tx)
	if err != nil || !there {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM words WHERE rowid BETWEEN ? AND ?", num<<32, (num+1)<<32-1)
	if damagedWords(err) {
		return dropWords(ctx, tx)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM indexed WHERE session = ?", num)
	}
	return err
}

// CleanWords rewrites the words table without removed sessions: about a second for 20 MB.
func (s Owner) CleanWords(ctx context.Context) error {
	dropOldIndex(s.path)
	return s.mendWords(ctx, func() error {
		if there, err := hasWords(ctx, s.db); err != nil || !there {
			return err
		}
		if _, err := s.db.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
			return err
		}
		defer s.db.ExecContext(ctx, "PRAGMA secure_delete = OFF") // it slows appends down
		if _, err := s.db.ExecContext(ctx, "INSERT INTO words (words) VALUES ('optimize')"); err != nil {
			return err
		}
		return s.cutLog(ctx)
	})
}
