package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"adze/session"
)

// Raw is a row of entries as the database holds it, sound or not.
type Raw struct {
	Seq   int64
	Entry session.Entry
	Hash  []byte
	time  int64 // as the hash has it
}

// Sum is the hash of the row if it stands at seq in the log of id, behind a row with the hash before.
func (r Raw) Sum(id session.ID, seq int64, before []byte) []byte {
	return row{seq: seq, kind: string(r.Entry.Type), time: r.time, data: string(r.Entry.Data)}.sum(id, before)
}

// RawLog is a session as it lies in the database: Entries and Tip are what was noted of its end apart from its rows.
type RawLog struct {
	ID      session.ID
	Entries int64
	Tip     []byte
	Rows    []Raw // by Seq
}

// Raw reads the log of id without believing anything of it: what Load refuses is there, too.
func (s *Store) Raw(ctx context.Context, id session.ID) (RawLog, error) {
	log := RawLog{ID: id}
	if err := s.usable(); err != nil {
		return log, err
	}
	var num int64
	err := s.db.QueryRowContext(ctx, "SELECT num, CAST(entries AS INTEGER), CAST(tip AS BLOB) FROM sessions WHERE id = ?", string(id)).Scan(&num, &log.Entries, &log.Tip)
	if errors.Is(err, sql.ErrNoRows) {
		return log, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	if err != nil {
		return log, s.explain("read", err)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT CAST(seq AS INTEGER), CAST(type AS TEXT), CAST(time AS INTEGER), CAST(data AS BLOB), CAST(hash AS BLOB)
		FROM entries WHERE session = ? ORDER BY seq`, num)
	if err != nil {
		return log, s.explain("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r Raw
		var data []byte
		if err := rows.Scan(&r.Seq, &r.Entry.Type, &r.time, &data, &r.Hash); err != nil {
			return log, s.explain("read", err)
		}
		r.Entry.Time, r.Entry.Data = fromNanos(r.time), data
		log.Rows = append(log.Rows, r)
	}
	if err := rows.Err(); err != nil {
		return log, s.explain("read", err)
	}
	return log, nil
}

