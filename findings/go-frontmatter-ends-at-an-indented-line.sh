#!/usr/bin/env bash
# adrg/frontmatter v0.2.0: the front matter ends at a line "---" that is indented, in the middle of a text of several lines.
# The fields behind it are gone, and stand at the beginning of the body.
#
# Expected: it ends at "---" at the beginning of a line, as for the npm package front-matter 4.0.2 (run once, not by this
# script); what is indented belongs to the text above it. Seen: of a help text with a line "  ---" the first line is kept,
# "model" is not among the fields, and there is no error; in quotes the same line is an error about YAML.
#
# Who meets it: programs in Go that read skills, commands and agents' files (Markdown with a front matter) by this package:
# one whose description shows an example of such a file loses its model and its list of tools.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"strings"

	"github.com/adrg/frontmatter"
)

func main() {
	for _, line := range []string{"  --- x", "  ---", "  ----"} {
		text := "---\nname: x\nhelp: |\n  one\n" + line + "\n  two\nmodel: fast\n---\nbody\n"
		var fields map[string]any
		body, err := frontmatter.Parse(strings.NewReader(text), &fields)
		fmt.Printf("%q: %q, body %q, %v\n", line, fields, body, err)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/adrg/frontmatter@v0.2.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"  --- x": map["help":"one\n--- x\ntwo\n" "model":"fast" "name":"x"], body "body\n", <nil>
"  ---": map["help":"one\n" "name":"x"], body "  two\nmodel: fast\n---\nbody\n", <nil>
"  ----": map["help":"one\n----\ntwo\n" "model":"fast" "name":"x"], body "body\n", <nil>
END
echo "as stated: it ends at an indented line"
