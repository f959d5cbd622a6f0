package sessiondb

import (
	"context"
	"fmt"
)

// schemaVersion is the newest schema version: the number of steps.
const schemaVersion = 3

// applicationID identifies adze's files: "adze" in ASCII
// (sqlite.org/pragma.html#pragma_application_id).
const applicationID = 0x61647a65

// steps returns the migrations; the step at index n upgrades version n. A released step never
// changes; a new schema is a new step.
func steps() []string {
	return []string{
		// Large and small fields are separate: every append rewrites the sessions row.
		`CREATE TABLE sessions (
			num     INTEGER PRIMARY KEY,
			id      TEXT    NOT NULL UNIQUE,
			created INTEGER NOT NULL, -- nanoseconds since 1970, UTC; 0: unknown
			updated INTEGER NOT NULL,
			entries INTEGER NOT NULL, -- how many there are: the last seq
			tip     BLOB    NOT NULL  -- hash of the last entry
		);
		CREATE TABLE openings ( -- what a list shows; made from entries, with long strings cut
			session INTEGER PRIMARY KEY REFERENCES sessions(num),
			start   TEXT,
			first   TEXT
		);
		CREATE TABLE entries (
			session INTEGER NOT NULL REFERENCES sessions(num),
			seq     INTEGER NOT NULL, -- from 1, without gaps
			type    TEXT    NOT NULL,
			time    INTEGER NOT NULL,
			data    TEXT    NOT NULL, -- JSON
			hash    BLOB    NOT NULL,
			PRIMARY KEY (session, seq)
		) WITHOUT ROWID;
		CREATE TRIGGER entries_count AFTER INSERT ON entries BEGIN
			UPDATE sessions SET entries = new.seq, updated = new.time, tip = new.hash WHERE num = new.session;
		END;
		CREATE TRIGGER entries_keep BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
		CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;`,

		// Lists read all labels: few sessions have any. A removed session leaves its number, which
		// is never reused, and only a session with such a tombstone can be deleted. All tables must
		// fit into the first page.
		`CREATE TABLE identity (id TEXT NOT NULL);
		INSERT INTO identity VALUES (lower(hex(randomblob(16))));
		CREATE TABLE labels (
			num     INTEGER PRIMARY KEY,
			session INTEGER NOT NULL,
			time    INTEGER NOT NULL,
			kind    TEXT NOT NULL,
			value   TEXT NOT NULL,
			origin  TEXT NOT NULL
		);
		CREATE TABLE removed (
			num     INTEGER PRIMARY KEY, -- as it was in sessions
			id      TEXT NOT NULL,
			time    INTEGER NOT NULL,
			entries INTEGER NOT NULL,
			tip     BLOB NOT NULL,
			why     TEXT NOT NULL
		);
		DROP TRIGGER entries_stay;
		CREATE TRIGGER entries_stay BEFORE DELETE ON entries WHEN NOT EXISTS (SELECT 1 FROM removed WHERE num = old.session)
			BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
		CREATE TRIGGER labels_keep BEFORE UPDATE ON labels BEGIN SELECT RAISE(ABORT, 'labels never change'); END;`,

		textTables,
	}
}

// migrate runs the missing steps in one transaction, unless another process did.
func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain("update the schema of", err)
	}
	defer tx.Rollback() // no effect after Commit
	var version, tables int
	err = tx.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version").Scan(&version, &tables)
	if err != nil {
		return s.explain("update the schema of", err)
	}
	if version == 0 && tables > 0 {
		return fmt.Errorf("session store %s: this is a database of another program; move it away", s.path)
	}
	for _, step := range steps()[min(version, schemaVersion):] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return s.explain("update the schema of", err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, max(version, schemaVersion))
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return s.explain("update the schema of", err)
	}
	if err := tx.Commit(); err != nil {
		return s.explain("update the schema of", err)
	}
	return nil
}
