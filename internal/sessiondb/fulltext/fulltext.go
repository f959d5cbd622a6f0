// Package fulltext finds what was said and done in stored sessions by its words: prompts, answers,
// calls as far as their tools allow them to be logged, and their results.
//
// The one rule: the index is a cache beside the log, made after the log and from nothing else. It
// can be removed at any time, a run that does not search never opens it, and what the log let go of
// is gone from it, too. It is no part of the store's file, because a write of an entry with its
// words takes 2.5 to 4 times the CPU of one without.
//
// Start reading at Open and Index.Search (search.go); update.go brings the index up to date,
// text.go says what of an entry is indexed, query.go what a user's words mean, snippet.go what is
// shown of a hit.
//
// The index is an FTS5 table without content: the row of an entry is its session's number << 32 |
// its place in the log, so that the newest come first without any being rated. (Rating by bm25
// looks at every hit: two seconds for a common word in 100,000 entries.) How far each session was
// read stands in the same transaction as its words. So a process that is killed leaves an index
// that is sound and short, and the next one goes on from there.
//
// Known limits: a session that is gone on with keeps its place among the others, which is that of
// its beginning. A word is found from its start on, not from its middle; the parts of a name such
// as max_retry_count are words. Chinese, Japanese and Korean are found by every character.
package fulltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite" // also registers the driver "sqlite"

	"adze/internal/osfile/filelock"
	"adze/internal/sessiondb"
)

// Index is the words of a store's sessions. Make one with Open. It is safe for concurrent use.
type Index struct {
	path string
	logs *sessiondb.Store
	db   *sql.DB
	// small is how many entries a batch has in tests; if 0, batchEntries.
	small int64
}

// File is the name of the index beside the store.
const File = "search.db"

// format is the version of what is in the index; another one is made anew.
const format = 2

// busyTimeout is how long, in milliseconds, a writer waits for another.
const busyTimeout = 10_000

// Open opens the index at path, or makes an empty one: where it is missing, damaged, of another
// format or of another store. Update fills it.
func Open(ctx context.Context, path string, logs *sessiondb.Store) (*Index, error) {
	x := &Index{path: path, logs: logs}
	err := x.connect(ctx)
	if damaged(err) || errors.Is(err, errOther) {
		err = x.renew(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("search index: %w", err), x.Close())
	}
	return x, nil
}

// errOther says that the file is not the index of this store, as this adze makes it.
var errOther = errors.New("it is of another store or another adze")

func (x *Index) connect(ctx context.Context) error {
	return sessiondb.WhileBusy(func() error {
		_ = x.Close()
		if err := os.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
			return err
		}
		if f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		} else if err := f.Close(); err != nil {
			return err
		}
		u := url.URL{Scheme: "file", Path: sessiondb.URIPath(x.path), RawQuery: fmt.Sprintf(
			"_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-8192)", busyTimeout)}
		var err error
		if x.db, err = sql.Open("sqlite", u.String()); err != nil {
			return err
		}
		x.db.SetMaxOpenConns(2) // one that reads on while the other writes
		return x.prepare(ctx)
	})
}

// prepare makes the tables of an empty index, and looks whose a filled one is.
func (x *Index) prepare(ctx context.Context) error {
	identity, err := x.logs.Identity(ctx)
	if err != nil {
		return err
	}
	version, was := 0, ""
	err = x.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version == format {
		err = x.db.QueryRowContext(ctx, "SELECT identity FROM state").Scan(&was)
	}
	switch {
	case err != nil:
		return err
	case version == format && was == identity:
		return nil
	case version != 0:
		return errOther
	}
	return x.inside(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version != 0 {
			return err // another process was first
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(schema, format)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO state (identity, sessions, entries) VALUES (?, 0, 0)", identity)
		return err
	})
}

// schema: state holds the sums of read, which tell at once whether the log went on.
const schema = `CREATE VIRTUAL TABLE words USING fts5(body, content='', contentless_delete=1, prefix='3', tokenize="unicode61 remove_diacritics 2");
	CREATE TABLE read (
		session INTEGER PRIMARY KEY, -- its number in the log
		cwd     TEXT    NOT NULL,
		updated INTEGER NOT NULL, -- nanoseconds since 1970
		seq     INTEGER NOT NULL  -- the last entry that was read
	);
	CREATE TABLE state (identity TEXT NOT NULL, sessions INTEGER NOT NULL, entries INTEGER NOT NULL);
	PRAGMA user_version = %d`

// inside runs do in one transaction, which has the index for itself.
func (x *Index) inside(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // has no effect after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Codes of SQLite that say that a file is no sound database (sqlite.org/rescode.html).
const (
	codeCorrupt = 11
	codeNotADB  = 26
)

func damaged(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == codeCorrupt || e.Code()&0xff == codeNotADB)
}

// renew drops the index and makes an empty one, unless another process did so just now.
func (x *Index) renew(ctx context.Context) error {
	unlock, err := filelock.Wait(ctx, x.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if err := x.connect(ctx); !damaged(err) && !errors.Is(err, errOther) {
		return err
	}
	_ = x.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(x.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return x.connect(ctx)
}

// Close gives the index back; the store stays open.
func (x *Index) Close() error {
	if x.db == nil {
		return nil
	}
	_ = x.db.Close() // a cache: what it did not keep is made again
	return nil
}

// mended runs do. Where that meets damage, the file is removed, and the next Open makes it anew.
func (x *Index) mended(do func() error) error {
	err := do()
	if damaged(err) {
		_ = os.Remove(x.path)
		return fmt.Errorf("search index: %w; it was damaged and is made anew: search again", err)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("search index: %w", err)
	}
	return err
}
