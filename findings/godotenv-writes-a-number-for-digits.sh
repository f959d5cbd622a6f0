#!/usr/bin/env bash
# joho/godotenv v1.5.1, and subosito/gotenv v1.6.0 alike: a value of digits is written as the number that it stands for.
# Leading zeros and a leading plus are gone after Write and Read.
#
# Expected: all values are texts, and what is written is read as it was, as for "1.50", which is kept. Seen: PIN=0042 is
# written as 42, PHONE=+4930123 as 4930123, BUILD=007 as 7, without an error. What is no number of 64 bits is kept.
#
# Who meets it: programs that change one key in a person's .env by reading it, setting the key, and writing it: keys and
# numbers of accounts that no one touched are other ones afterwards.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"

	"github.com/joho/godotenv"
	"github.com/subosito/gotenv"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	values := map[string]string{"PIN": "0042", "PHONE": "+4930123", "BUILD": "007", "PRICE": "1.50", "LONG": "99999999999999999999", "WORD": "a$b"}
	must(godotenv.Write(values, "one.env"))
	one, err := godotenv.Read("one.env")
	must(err)
	must(gotenv.Write(values, "two.env"))
	two, err := gotenv.Read("two.env")
	must(err)
	for _, name := range []string{"PIN", "PHONE", "BUILD", "PRICE", "LONG", "WORD"} {
		fmt.Printf("%s %q: godotenv %q, gotenv %q\n", name, values[name], one[name], two[name])
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/joho/godotenv@v1.5.1 github.com/subosito/gotenv@v1.6.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
PIN "0042": godotenv "42", gotenv "42"
PHONE "+4930123": godotenv "4930123", gotenv "4930123"
BUILD "007": godotenv "7", gotenv "7"
PRICE "1.50": godotenv "1.50", gotenv "1.50"
LONG "99999999999999999999": godotenv "99999999999999999999", gotenv "99999999999999999999"
WORD "a$b": godotenv "a$b", gotenv "a$b"
END
echo "as stated: leading zeros and a plus are gone"
