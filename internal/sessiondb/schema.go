package sessiondb

import (
	"context"
	"fmt"
)

// schemaVersion is the newest schema this package knows: the number of steps.
const schemaVersion = 3

// applicationID marks the file as ours: "adze" in ASCII
// (sqlite.org/pragma.html#pragma_application_id).
const applicationID = 0x61647a65

// steps brings a database from the version that is its index to the next one. A step that was ever
// released never changes; a new schema is a new step.
func steps() []string {
	return []string{
		// Large and small fields are apart: every append rewrites the sessions row.
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

		// A list of all sessions reads labels whole: few have any. What is removed leaves its
		// number behind, which is never given again, and only what has left it there can be
		// removed. All tables are to fit into the first page (graft).
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

// migrate runs the missing steps in one transaction. Another process may have been first.
func (s *Store) migrate(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain("update the schema of", err)
	}
	defer tx.Rollback() // has no effect after Commit
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
