package sessiondb

import (
	"bytes"
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
)

var update = flag.Bool("update", false, "write the empty store anew")

// schemaOf is everything that a database without sessions holds, but for its identity.
func schemaOf(t *testing.T, path string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema
		UNION ALL SELECT 'version ' || user_version FROM pragma_user_version UNION ALL SELECT 'application ' || application_id FROM pragma_application_id
		UNION ALL SELECT 'page ' || page_size FROM pragma_page_size UNION ALL SELECT 'encoding ' || encoding FROM pragma_encoding
		UNION ALL SELECT 'identity ' || length(id) FROM identity UNION ALL SELECT 'check ' || quick_check FROM pragma_quick_check
		UNION ALL SELECT 'sessions ' || count(*) FROM sessions UNION ALL SELECT 'entries ' || count(*) FROM entries`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// made is a database that the steps of the schema made.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s := &Store{path: path, db: db}
	if err := s.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE identity SET id = ?", noIdentity); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTheEmptyStoreIsWhatTheSchemaMakes: a step that is added is in a store that begins with it.
func TestTheEmptyStoreIsWhatTheSchemaMakes(t *testing.T) {
	path := made(t)
	if *update {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("empty.db.s2", s2.EncodeBest(nil, raw), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("written; run again without -update")
	}
	fresh := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), fresh, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(schemaOf(t, path), schemaOf(t, fresh)); diff != "" {
		t.Errorf("go test ./internal/sessiondb -run EmptyStore -update writes it anew (-steps +empty store):\n%s", diff)
	}
	for _, network := range []bool{false, true} {
		one, err := emptyImage(network)
		if err != nil {
			t.Fatal(err)
		}
		if other, _ := emptyImage(network); bytes.Equal(one, other) {
			t.Error("two stores have one identity")
		}
	}
}

// TestAFreshStoreTakesNothingOfAnOlderOne: a log that lies there belongs to a database that is
// gone.
func TestAFreshStoreTakesNothingOfAnOlderOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), "INSERT INTO sessions VALUES (1, 'old', 0, 0, 0, '')"); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(other+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), other, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if heads, err := s.List(t.Context()); err != nil || len(heads) != 0 {
		t.Errorf("it holds %v, %v", heads, err)
	}
}
