package sessiondb

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"adze/session"
)

// found is a session in a damaged database.
type found struct {
	id      session.ID
	created int64
	entries int64 // how many there were; if 0, unknown
}

// rescue copies every readable row into fresh and writes down what is missing.
func (r *reader) rescue(ctx context.Context, fresh *sql.DB, loss *Loss) error {
	sessions := r.sessions(ctx)
	if err := r.largeTexts(ctx, fresh); err != nil {
		return fmt.Errorf("write the rescued texts: %w", err)
	}
	for _, num := range slices.Sorted(maps.Keys(sessions)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := sessions[num]
		rows := r.entries(ctx, num, f.entries)
		if missing := f.missing(rows); missing != "" {
			loss.Missing = append(loss.Missing, missing)
		}
		if len(rows) == 0 {
			continue
		}
		lost, err := transplant(ctx, fresh, f, rows, r.labels(ctx, num))
		if err != nil {
			return fmt.Errorf("write the rescued entries of session %s: %w", f.id, err)
		}
		if lost > 0 {
			loss.Missing = append(loss.Missing, fmt.Sprintf("session %s: %d large texts are lost", f.id, lost))
		}
		loss.Sessions++
		loss.Entries += len(rows)
	}
	r.stones(ctx, fresh)
	return nil
}

// stones brings over what removed sessions left behind, under numbers of the fresh database.
func (r *reader) stones(ctx context.Context, fresh *sql.DB) {
	_ = r.each(ctx, "SELECT id, time, entries, tip, why FROM removed WHERE why IN ('person', 'retention')", nil, func(rows *sql.Rows) {
		var id, why string
		var at, entries int64
		var tip []byte
		if rows.Scan(&id, &at, &entries, &tip, &why) == nil {
			_, _ = fresh.ExecContext(ctx, "INSERT INTO removed SELECT "+nextNumber+", ?, ?, ?, ?, ?", id, at, entries, tip, why)
		}
	})
}

func (f found) missing(rows []row) string {
	total := f.entries
	if n := len(rows); n > 0 {
		total = max(total, rows[n-1].seq)
	}
	lost := total - int64(len(rows))
	if lost <= 0 {
		return ""
	}
	return fmt.Sprintf("session %s: %d of %d entries are lost", f.id, lost, total)
}

// sessions gathers from the table in both directions and from the index of its ids, because each
// may be cut by a damaged page at another place. A session that only its entries tell of gets an id
// made from its number.
func (r *reader) sessions(ctx context.Context) map[int64]found {
	all := map[int64]found{}
	for _, query := range []string{
		"SELECT num, id, created, entries FROM sessions NOT INDEXED ORDER BY num",
		"SELECT num, id, created, entries FROM sessions NOT INDEXED ORDER BY num DESC",
		"SELECT num, id, 0, 0 FROM sessions ORDER BY id",
		"SELECT num, id, 0, 0 FROM sessions ORDER BY id DESC",
	} {
		_ = r.each(ctx, query, nil, func(rows *sql.Rows) {
			var num int64
			var f found
			if rows.Scan(&num, &f.id, &f.created, &f.entries) != nil {
				return // the next one may be readable
			}
			if known, ok := all[num]; !ok || known.entries == 0 {
				all[num] = f
			}
		})
	}
	for _, num := range r.numbers(ctx) {
		if _, ok := all[num]; !ok {
			all[num] = found{id: session.ID(fmt.Sprintf("salvaged-%d", num))}
		}
	}
	return all
}

// numbers hops through entries from session to session, from both ends.
func (r *reader) numbers(ctx context.Context) []int64 {
	var out []int64
	for _, hop := range []struct {
		query string
		from  int64
	}{
		{"SELECT session FROM entries WHERE session > ? ORDER BY session LIMIT 1", -1 << 63},
		{"SELECT session FROM entries WHERE session < ? ORDER BY session DESC LIMIT 1", 1<<63 - 1},
	} {
		for at := hop.from; ; {
			if r.db.QueryRowContext(ctx, hop.query, at).Scan(&at) != nil {
				break
			}
			out = append(out, at)
		}
	}
	return out
}

// maxProbes bounds how many single rows are looked for between the readable ends of a session. A
// page holds a few dozen at most, so this covers thousands of damaged pages.
const maxProbes = 100_000

// entries reads a session from its start, then from its end, then row by row in between.
func (r *reader) entries(ctx context.Context, num, total int64) []row {
	const fields = "SELECT seq, type, time, data, hash FROM entries WHERE session = ?"
	got := map[int64]row{}
	collect := func(query string, args ...any) error {
		return r.each(ctx, query, args, func(rows *sql.Rows) {
			var e row
			if rows.Scan(&e.seq, &e.kind, &e.time, &e.data, &e.hash) == nil && e.seq > 0 {
				got[e.seq] = e
			}
		})
	}
	if collect(fields+" ORDER BY seq", num) == nil {
		return sortedRows(got)
	}
	low := int64(len(got))
	_ = collect(fields+" ORDER BY seq DESC", num) // stops at the damage, as expected
	for seq := range got {
		total = max(total, seq)
	}
	for seq := low + 1; seq <= min(total, low+maxProbes) && ctx.Err() == nil; seq++ {
		if _, ok := got[seq]; !ok {
			_ = collect(fields+" AND seq = ?", num, seq)
		}
	}
	return sortedRows(got)
}

// labels reads what a session was called. An older database has none, and a row that is none of
// them comes from another table.
func (r *reader) labels(ctx context.Context, num int64) (out []Label) {
	_ = r.each(ctx, "SELECT time, kind, value, origin FROM labels WHERE session = ? ORDER BY num", []any{num}, func(rows *sql.Rows) {
		var l Label
		var at int64
		if rows.Scan(&at, &l.Kind, &l.Value, &l.By) == nil && slices.Contains([]LabelKind{TitleLabel, TagLabel, UntagLabel}, l.Kind) {
			l.Time = FromNanos(at)
			out = append(out, l)
		}
	})
	return out
}

func sortedRows(got map[int64]row) []row {
	out := make([]row, 0, len(got))
	for _, seq := range slices.Sorted(maps.Keys(got)) {
		out = append(out, got[seq])
	}
	return out
}

// each calls use for all rows up to the first that cannot be read.
func (r *reader) each(ctx context.Context, query string, args []any, use func(*sql.Rows)) error {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		use(rows)
	}
	return rows.Err()
}

// transplant writes rows as they were, hashes included, so that Verify still names what is missing.
func transplant(ctx context.Context, fresh *sql.DB, f found, rows []row, labels []Label) (lost int, err error) {
	tx, err := fresh.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // has no effect after Commit
	created := f.created
	if created == 0 {
		created = rows[0].time
	}
	num, err := newSession(ctx, tx, f.id, created)
	if err != nil {
		return 0, err
	}
	var log []session.Entry
	for _, e := range rows {
		if _, err := tx.ExecContext(ctx, insertEntry+oneEntry, num, e.seq, e.kind, e.time, e.data, e.hash); err != nil {
			return 0, err
		}
		missing, err := use(ctx, tx, num, e.data)
		if err != nil {
			return 0, err
		}
		lost += missing
		log = append(log, session.Entry{Type: session.EntryType(e.kind), Data: []byte(e.data)})
	}
	if o, err := openingWhole(ctx, tx, log); err != nil {
		return 0, err
	} else if o != nil {
		if err := o.save(ctx, tx, num); err != nil {
			return 0, err
		}
	}
	for _, l := range labels {
		if err := addLabel(ctx, tx, num, l); err != nil {
			return 0, err
		}
	}
	return lost, tx.Commit()
}
