package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"adze/session"
)

// A Scan selects entries of the logs.
type Scan struct {
	Session session.ID          // empty means all
	Types   []session.EntryType // empty means all
	After   int64               // only entries after this one
	// Paths selects single values from each entry's data, such as "$.record.tool": ScanResult.Data is
	// then an array of them, null if absent. If empty, Data is the full data.
	Paths []string
}

// A Found is an entry matched by a scan.
type ScanResult struct {
	Session session.ID
	Seq     int64
	Entry   session.Entry
}

// ScanEach calls each for the matching entries, session by session in log order, holding one entry
// in memory. An entry whose data is not JSON has nil Data. each runs while the database is read: it
// must not use the store, and its error ends the scan.
//
// Each reads all rows: every append would pay for an index on the type. Measured: 1.2 µs an entry
// if one in four is an outcome of 2 kB with selected paths, 10 µs for one full of escapes; so one
// to ten seconds for a million entries.
func (s *Store) ScanEach(ctx context.Context, scan Scan, each func(ScanResult) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	query, args := scan.query()
	met := false
	err := read(s.stream(ctx, query, args...)).each(ctx, func(f ScanResult) error { met = true; return each(f) })
	if err == nil && !met && scan.Session != "" {
		_, err = s.Owner().number(ctx, s.db, scan.Session) // it may just lack entries of the wanted types
	}
	return err
}

// found returns a row's entry with its large texts.
func (rows *stream) found(ctx context.Context) (f ScanResult, err error) {
	var at int64
	var data sql.RawBytes
	if err := rows.Scan(&f.Session, &f.Seq, &f.Entry.Type, &at, &data); err != nil {
		return f, err
	}
	f.Entry.Time = FromNanos(at)
	f.Entry.Data, err = rows.texts.whole(ctx, raw(data))
	return f, err
}

// stream is a query's rows with their entries' large texts, read over the same connection: there is
// only one.
type stream struct {
	*sql.Rows
	conn    *sql.Conn // nil if owned by another
	texts   *texts
	explain func(doing string, err error) error
}

func (s *Store) stream(ctx context.Context, query string, args ...any) (*stream, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, s.explain("read", err)
	}
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, errors.Join(s.explain("read", err), conn.Close())
	}
	return &stream{rows, conn, &texts{from: conn}, s.explain}, nil
}

// streamStart is a new stream, or the error of starting it.
type streamStart struct {
	*stream
	err error
}

func read(rows *stream, err error) streamStart { return streamStart{rows, err} }

// each calls use for the entries until it fails, and closes the stream.
func (r streamStart) each(ctx context.Context, use func(ScanResult) error) error {
	if r.err != nil {
		return r.err
	}
	defer r.Close()
	for r.Next() {
		f, err := r.found(ctx)
		switch {
		case codeOf(err) != 0:
			return r.explain("read", err)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := use(f); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return r.explain("read", err)
	}
	return nil
}

// Close ends the query and releases the connection.
func (rows *stream) Close() error {
	err := rows.Rows.Close()
	if rows.conn != nil {
		err = errors.Join(err, rows.conn.Close())
	}
	return err
}

func (q Scan) query() (string, []any) {
	data, args := "e.data", []any(nil)
	if len(q.Paths) > 0 {
		paths := q.Paths
		if len(paths) == 1 {
			paths = append(paths, paths[0]) // for a single path SQLite returns the bare value
		}
		for _, p := range paths {
			args = append(args, p)
		}
		data = "json_extract(e.data" + strings.Repeat(", ?", len(paths)) + ")"
	}
	where := []string{"true"}
	if q.Session != "" {
		where, args = append(where, "s.id = ?"), append(args, string(q.Session))
	}
	if q.After > 0 {
		where, args = append(where, "e.seq > ?"), append(args, q.After)
	}
	if len(q.Types) > 0 {
		where = append(where, "e.type IN (?"+strings.Repeat(", ?", len(q.Types)-1)+")")
		for _, t := range q.Types {
			args = append(args, string(t))
		}
	}
	return "SELECT s.id, e.seq, e.type, e.time, iif(json_valid(e.data), " + data + ", NULL) FROM sessions AS s JOIN entries AS e ON e.session = s.num WHERE " +
		strings.Join(where, " AND ") + " ORDER BY e.session, e.seq", args
}

// An Anchor identifies a chain's present end by its last entry and hash. Stored elsewhere, it later
// shows whether earlier entries were rewritten, even by the database's owner.
type Anchor struct {
	Seq  int64
	Hash string // hexadecimal
}

func (a Anchor) String() string { return fmt.Sprintf("%d:%s", a.Seq, a.Hash) }

// Anchor returns the present end of id's chain.
func (s *Store) Anchor(ctx context.Context, id session.ID) (a Anchor, err error) {
	return s.anchor(ctx, id, "SELECT entries, lower(hex(tip)) FROM sessions WHERE id = ?", string(id))
}

// Check verifies that id's chain contains an anchor and returns the number of valid entries. Its
// errors are those of Verify.
func (s *Store) Check(ctx context.Context, id session.ID, a Anchor) (int, error) {
	n, err := s.Verify(ctx, id)
	if err != nil {
		return n, err
	}
	if int64(n) < a.Seq {
		return n, &BadRow{id, int64(n) + 1, "is missing: the anchor knows more"}
	}
	now, err := s.anchor(ctx, id, `SELECT seq, lower(hex(hash)) FROM entries
		WHERE session = (SELECT num FROM sessions WHERE id = ?) AND seq = ?`, string(id), a.Seq)
	if err != nil {
		return n, err
	}
	if now != a {
		return n, &BadRow{id, a.Seq, "or one before it is not what the anchor knows: the chain was rewritten"}
	}
	return n, nil
}

func (s *Store) anchor(ctx context.Context, id session.ID, query string, args ...any) (a Anchor, err error) {
	if err := s.usable(); err != nil {
		return a, err
	}
	err = s.db.QueryRowContext(ctx, query, args...).Scan(&a.Seq, &a.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return a, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	if err != nil {
		return a, s.explain("read", err)
	}
	return a, nil
}
