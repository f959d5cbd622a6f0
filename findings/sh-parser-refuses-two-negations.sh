#!/usr/bin/env bash
# mvdan.cc/sh v3.14.1: the parser refuses `! ! true` in its bash mode, and bash runs it.
#
# Expected: the same as bash 5 (here the bash that runs this script), which takes each further ! as one more negation: exit
# code 0. Seen: "cannot negate a command multiple times", so the whole text has no tree.
#
# Who meets it: every tool that reads a command with this parser before bash gets it (permission checks of assistants,
# shfmt, gosh). A valid command is refused, or asked about with a false reason; generated commands negate twice when a
# template puts "!" before a condition that already begins with one.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func main() {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("! ! true\n"), "")
	fmt.Println(err)
}
END
go mod init probe >/dev/null 2>&1
go get mvdan.cc/sh/v3@v3.14.1 >/dev/null 2>&1
bash --norc -c '! ! true' || { echo "changed: bash $BASH_VERSION ends with $?"; exit 1; }
go run . | tee out
grep -q 'cannot negate a command multiple times' out || { echo "changed: the parser"; exit 1; }
echo "as stated: bash $BASH_VERSION runs it, the parser refuses it"
