#!/usr/bin/env bash
# goccy/go-yaml v1.19.2: a tab in the middle of a text without quotes is dropped, and the words beside it become one. Marshal
# writes texts that Unmarshal reads as others: with a tab, with CRLF, a lone line end, ".inf".
#
# Expected: YAML allows tabs inside a plain text, as go.yaml.in/yaml v3.0.5 has it, run beside it; and a text that is written
# is read as it was. Seen: "go test<TAB>./..." is "go test./..."; "a<CR><LF>b" comes back with LF, "<LF>" as an empty text,
# "<TAB>" as null, ".inf" as a number. No error. In quotes and in blocks a tab stays.
#
# Who meets it: programs in Go that keep commands, prompts and patches of people in YAML files by this package: a command that
# was copied from a terminal or a Makefile is another one, and a table of values parted by tabs loses its columns.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"

	"github.com/goccy/go-yaml"
	other "go.yaml.in/yaml/v3"
)

func main() {
	for _, text := range []string{"k: go test\t./...", "k: 'go test\t./...'", "k: |-\n  go test\t./...", "- a\tb"} {
		var one, two any
		if err := yaml.Unmarshal([]byte(text), &one); err != nil {
			panic(err)
		}
		if err := other.Unmarshal([]byte(text), &two); err != nil {
			panic(err)
		}
		fmt.Printf("%q: goccy %q, yaml %q\n", text, one, two)
	}
	for _, value := range []string{"a\tb", "\t", "a\r\nb", "\n", ".inf", "1e3", "a\nb"} {
		written, err := yaml.Marshal(map[string]any{"k": value})
		if err != nil {
			panic(err)
		}
		var one, two map[string]any
		if err := yaml.Unmarshal(written, &one); err != nil {
			panic(err)
		}
		written, err = other.Marshal(map[string]any{"k": value})
		if err != nil {
			panic(err)
		}
		if err := other.Unmarshal(written, &two); err != nil {
			panic(err)
		}
		fmt.Printf("%q comes back: goccy %#v, yaml %#v\n", value, one["k"], two["k"])
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/goccy/go-yaml@v1.19.2 go.yaml.in/yaml/v3@v3.0.5 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"k: go test\t./...": goccy map["k":"go test./..."], yaml map["k":"go test\t./..."]
"k: 'go test\t./...'": goccy map["k":"go test\t./..."], yaml map["k":"go test\t./..."]
"k: |-\n  go test\t./...": goccy map["k":"go test\t./..."], yaml map["k":"go test\t./..."]
"- a\tb": goccy ["ab"], yaml ["a\tb"]
"a\tb" comes back: goccy "ab", yaml "a\tb"
"\t" comes back: goccy <nil>, yaml "\t"
"a\r\nb" comes back: goccy "a\nb", yaml "a\r\nb"
"\n" comes back: goccy "", yaml "\n"
".inf" comes back: goccy +Inf, yaml ".inf"
"1e3" comes back: goccy "1e3", yaml "1e3"
"a\nb" comes back: goccy "a\nb", yaml "a\nb"
END
echo "as stated: a tab between two words is dropped, and texts come back as others"
