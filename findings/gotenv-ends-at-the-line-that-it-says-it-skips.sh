#!/usr/bin/env bash
# subosito/gotenv v1.6.0: Parse gives nothing of what stands behind a line that it does not understand, and no error. Its
# documentation says that it skips such lines and takes the others.
#
# Expected: "This function is skipping any invalid lines and only processing the valid one." Seen: of A=1, a line of words,
# and B=2, A alone. StrictParse and Apply tell the line in an error, and joho/godotenv v1.5.1, run beside it, gives one as
# well.
#
# Who meets it: programs that read a .env by Parse, the function without an error: one stray line, a heading without "#" or
# the rest of a value that was pasted in two lines, and all settings below it are unset.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/joho/godotenv"
	"github.com/subosito/gotenv"
)

func main() {
	text := "A=1\nsecrets of the team\nB=2\nC=3\n"
	fmt.Println("Parse", gotenv.Parse(strings.NewReader(text)))
	fmt.Println("Apply", gotenv.Apply(strings.NewReader(text)), os.Getenv("A"), os.Getenv("B") == "")
	some, err := gotenv.StrictParse(strings.NewReader(text))
	fmt.Println("StrictParse", some, err)
	some, err = godotenv.Unmarshal(text)
	fmt.Println("godotenv", some, err != nil)
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/joho/godotenv@v1.5.1 github.com/subosito/gotenv@v1.6.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
Parse map[A:1]
Apply line `secrets of the team` doesn't match format  true
StrictParse map[A:1] line `secrets of the team` doesn't match format
godotenv map[A:1] true
END
echo "as stated: what stands behind the line is gone without an error"
