#!/usr/bin/env bash
# bluekeyes/go-gitdiff v0.9.0: of a diff without prefixes the first folder of each name is cut off: src/x is x. Where the same file
# is renamed, its names are whole; in a diff without the line "diff --git" the prefixes stay.
#
# Expected: a/ and b/ are cut off, or i/ and w/, and a name that is the same on both sides stays as it is. Seen: "diff --git src/x
# src/x" is the file x; "rename from src/x" is src/x; "--- a/src/x" alone is b/src/x. There is no error, and nothing in the result
# tells which of the three it was.
#
# Who meets it: users of diff.noprefix, which many set to copy names from a diff, and assistants in Go that read the names of a
# diff with this package: a review, a rule or a patch is for x in the root, where another file of that name may be.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"os"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

func main() {
	files, _, err := gitdiff.Parse(os.Stdin)
	if err != nil {
		panic(err)
	}
	fmt.Println(files[0].OldName, files[0].NewName)
}
END
go mod init probe >/dev/null 2>&1
go get github.com/bluekeyes/go-gitdiff@v0.9.0 >/dev/null 2>&1
go build -o names .
git init -q r
cd r
git config user.email a@example.org
git config user.name a
mkdir src
echo a >src/x
git add .
git commit -qm a
echo b >src/x
{
  git diff | ../names
  git diff --no-prefix | ../names
  git diff | tail -n +3 | ../names
  git checkout -q .
  git mv src/x src/y
  git diff --cached --no-prefix | ../names
} | tee ../out
diff ../out - <<'END' || { echo "changed"; exit 1; }
src/x src/x
x x
b/src/x b/src/x
src/x src/y
END
echo "as stated: a folder is taken for a prefix"
