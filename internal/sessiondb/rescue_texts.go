package sessiondb

import (
	"context"
	"database/sql"

	"adze/session"
)

// largeTexts brings over every text that is what its name says, from both ends of the table and one
// by one in between.
func (r *reader) largeTexts(ctx context.Context, fresh *sql.DB) error {
	const fields = "SELECT num, hash, size, packed, data FROM texts"
	var failed error
	got := map[int64]bool{}
	collect := func(query string, args ...any) error {
		return r.each(ctx, query, args, func(rows *sql.Rows) {
			var num int64
			var n textName
			var hash, data []byte
			var packed bool
			if rows.Scan(&num, &hash, &n.size, &packed, &data) != nil || len(hash) != len(n.hash) || got[num] || failed != nil {
				return
			}
			copy(n.hash[:], hash)
			if _, err := unpacked(packed, data, n); err != nil {
				return
			}
			got[num] = true
			_, failed = fresh.ExecContext(ctx, "INSERT OR IGNORE INTO texts (hash, size, packed, data) VALUES (?, ?, ?, ?)", hash, n.size, packed, data)
		})
	}
	if collect(fields+" ORDER BY num") != nil {
		low := int64(len(got))
		_ = collect(fields + " ORDER BY num DESC") // stops at the damage, as expected
		high := low
		for num := range got {
			high = max(high, num)
		}
		for num := low + 1; num <= min(high, low+maxProbes) && ctx.Err() == nil; num++ {
			if !got[num] {
				_ = collect(fields+" WHERE num = ?", num)
			}
		}
	}
	return failed
}

// use notes which texts a session has by the names in an entry, and counts those that are not
// there.
func use(ctx context.Context, tx *sql.Tx, session int64, data string) (missing int, err error) {
	for _, n := range names([]byte(data)) {
		done, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO uses SELECT num, ? FROM texts WHERE hash = ?", session, n.hash[:])
		if err != nil {
			return missing, err
		}
		if changed, err := done.RowsAffected(); err == nil && changed == 0 {
			var there bool
			if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM texts WHERE hash = ?)", n.hash[:]).Scan(&there); err != nil {
				return missing, err
			}
			if !there {
				missing++
			}
		}
	}
	return missing, nil
}

// openingWhole is the opening of a log whose entries have names in the place of texts.
func openingWhole(ctx context.Context, from asker, log []session.Entry) (*opening, error) {
	all := texts{from: from}
	for i, e := range log {
		if e.Type != session.StartEntry && e.Type != session.MessageEntry {
			continue
		}
		whole, err := all.whole(ctx, e.Data)
		if err != nil {
			return nil, err
		}
		log[i].Data = whole
		if e.Type == session.MessageEntry {
			break // the first one counts
		}
	}
	return openingOf(log, &writer{}), nil
}
