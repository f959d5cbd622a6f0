#!/usr/bin/env bash
# modernc.org/sqlite v1.60.0 by database/sql: one statement of a transaction that is cancelled by its own context ends the whole
# transaction, and the *sql.Tx does not know. What is executed on it afterwards succeeds and is stored at once.
#
# Expected: the one statement is undone and the transaction goes on, as where a cancelled statement only reads; or the Tx is done
# and says so. Seen: of the rows 1 (before), those of the cancelled INSERT, and 2 (behind it), only 2 is there after Rollback,
# which itself is the first to return an error ("no transaction is active"). SQLite rolls back the transaction where an INSERT,
# UPDATE or DELETE is interrupted; the driver tells nobody. A context given to BeginTx is safe: the Tx is then done.
#
# Who meets it: stores of sessions that give a single long write a limit of time, or the context of the request: what belonged
# together is stored in part, the first half is gone, and a rollback takes nothing back.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "modernc.org/sqlite"
)

// endless never ends by itself, as a stand-in for what takes too long.
const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT max(x) FROM c"

func try(name string, begin bool, slow string) {
	db, err := sql.Open("sqlite", name+".db")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	whole := context.Background()
	if begin {
		whole = ctx
	}
	tx, err := db.BeginTx(whole, nil)
	if err != nil {
		panic(err)
	}
	if _, err = tx.Exec("INSERT INTO t VALUES (1)"); err != nil {
		panic(err)
	}
	_, err = tx.ExecContext(ctx, slow)
	fmt.Printf("%s: cancelled %t", name, err != nil)
	_, err = tx.Exec("INSERT INTO t VALUES (2)")
	fmt.Printf(", next %v", err)
	fmt.Printf(", rollback fails %t", tx.Rollback() != nil)
	var left string
	if err := db.QueryRow("SELECT coalesce(group_concat(x), 'none') FROM t").Scan(&left); err != nil {
		panic(err)
	}
	fmt.Println(", left", left)
}

func main() {
	try("read", false, endless)
	try("write", false, "INSERT INTO t "+endless)
	try("begin", true, "INSERT INTO t "+endless)
}
END
go mod init probe >/dev/null 2>&1
go get modernc.org/sqlite@v1.60.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
read: cancelled true, next <nil>, rollback fails false, left none
write: cancelled true, next <nil>, rollback fails true, left 2
begin: cancelled true, next sql: transaction has already been committed or rolled back, rollback fails true, left none
END
echo "as stated: after the cancelled write the transaction is gone, and the next row is stored"
