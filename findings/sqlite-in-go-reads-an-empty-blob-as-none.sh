#!/usr/bin/env bash
# modernc.org/sqlite v1.60.0 by database/sql: a blob of no bytes is read as a nil []byte, and a nil []byte is written as NULL, so
# that what was read cannot be written back.
#
# Expected: what is read and written back is the same, as for a text of no characters. Seen: X'' is read into []byte, into an
# any and into sql.Null[[]byte] as nil, where only the last still knows that it is no NULL; written to a column that is NOT
# NULL it fails, and to another it is NULL, which no longer equals X''. An empty []byte that is not nil is stored as X''.
#
# Who meets it: stores in Go that copy rows (a merge, a backup, a move to another schema), or that hash and compare what they
# read: an empty file among the contents that are kept is none after the first copy, or ends it with an error.
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

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	db, err := sql.Open("sqlite", "x.db")
	must(err)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE t (data BLOB NOT NULL); CREATE TABLE u (data BLOB); INSERT INTO t VALUES (X'')")
	must(err)
	var b []byte
	must(db.QueryRow("SELECT data FROM t").Scan(&b))
	var v any
	must(db.QueryRow("SELECT data FROM t").Scan(&v))
	var n sql.Null[[]byte]
	must(db.QueryRow("SELECT data FROM t").Scan(&n))
	fmt.Printf("[]byte nil %t, any %T nil %t, Null valid %t nil %t\n", b == nil, v, v.([]byte) == nil, n.Valid, n.V == nil)
	_, err = db.Exec("INSERT INTO t VALUES (?)", b)
	fmt.Println("back into NOT NULL:", err)
	for _, value := range []any{b, v, n, []byte{}, ""} {
		_, err = db.Exec("INSERT INTO u VALUES (?)", value)
		must(err)
	}
	var stored string
	must(db.QueryRow("SELECT group_concat(quote(data)) FROM u").Scan(&stored))
	fmt.Println("stored:", stored)
}
END
go mod init probe >/dev/null 2>&1
go get modernc.org/sqlite@v1.60.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
[]byte nil true, any []uint8 nil true, Null valid true nil true
back into NOT NULL: constraint failed: NOT NULL constraint failed: t.data (1299)
stored: NULL,NULL,NULL,X'',''
END
echo "as stated: an empty blob is read as nil, and nil is written as NULL"
