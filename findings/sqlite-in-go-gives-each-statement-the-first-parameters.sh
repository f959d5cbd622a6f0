#!/usr/bin/env bash
# modernc.org/sqlite v1.60.0 by database/sql: of several statements in one Exec each begins with the first parameter again, where
# the parameters are plain "?". What is left over is no error.
#
# Expected: the parameters go to the marks in their order, as they do within one statement, or an error, as
# ncruces/go-sqlite3 v0.37.0 gives one for every text with several statements (run once, not by this script). Seen: "INSERT …
# VALUES (?); INSERT … VALUES (?)" with 1 and 2 stores 1 and 1; "DELETE … = ?; INSERT … VALUES (?)" with the old and the new
# name stores the old name again. One parameter less than marks is an error in one statement, and none in two; one more is
# never an error. ?1 and ?2 are right in every statement.
#
# Who meets it: makers of stores in Go who put two changes that belong together into one call, so that both are made or none:
# no value is missing and none is null, they are only those of the first statement.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"
)

func main() {
	for n, c := range []struct {
		text string
		args []any
	}{
		{"INSERT INTO t VALUES (?), (?)", []any{1, 2}},
		{"INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", []any{1, 2}},
		{"INSERT INTO t VALUES (?1); INSERT INTO t VALUES (?2)", []any{1, 2}},
		{"DELETE FROM t WHERE x = ?; INSERT INTO t VALUES (?)", []any{"old", "new"}},
		{"INSERT INTO t VALUES (?); INSERT INTO t VALUES (?)", []any{1}},
		{"INSERT INTO t VALUES (?)", []any{1, 2}},
		{"INSERT INTO t VALUES (?), (?)", []any{1}},
	} {
		db, err := sql.Open("sqlite", fmt.Sprintf("%d.db", n))
		if err != nil {
			panic(err)
		}
		if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
			panic(err)
		}
		_, err = db.Exec(c.text, c.args...)
		var got string
		if err := db.QueryRow("SELECT coalesce(group_concat(x), 'none') FROM t").Scan(&got); err != nil {
			panic(err)
		}
		fmt.Printf("%s %v: %s, error %t\n", c.text, c.args, got, err != nil)
		db.Close()
	}
}
END
go mod init probe >/dev/null 2>&1
go get modernc.org/sqlite@v1.60.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
INSERT INTO t VALUES (?), (?) [1 2]: 1,2, error false
INSERT INTO t VALUES (?); INSERT INTO t VALUES (?) [1 2]: 1,1, error false
INSERT INTO t VALUES (?1); INSERT INTO t VALUES (?2) [1 2]: 1,2, error false
DELETE FROM t WHERE x = ?; INSERT INTO t VALUES (?) [old new]: old, error false
INSERT INTO t VALUES (?); INSERT INTO t VALUES (?) [1]: 1,1, error false
INSERT INTO t VALUES (?) [1 2]: 1, error false
INSERT INTO t VALUES (?), (?) [1]: none, error true
END
echo "as stated: the second statement gets the parameter of the first"
