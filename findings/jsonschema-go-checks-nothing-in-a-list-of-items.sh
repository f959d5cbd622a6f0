#!/usr/bin/env bash
# google/jsonschema-go v0.4.3: a schema of draft 2020-12 whose items is a list resolves without a word, and then no item is
# checked, so that every list passes.
#
# Expected: draft 2020-12 wants one schema in items (core §10.3.1.2; the list is called prefixItems there), so Resolve fails,
# as ajv 8.20.0 and hyperjump 1.18.0 do; or the list is read as draft 7 reads it. Seen: Resolve succeeds, [1] passes
# "items": [{"type": "string"}], and is refused only with "$schema" of draft 7.
#
# Who meets it: assistants that hold an answer or the arguments of a tool to a schema that was written for draft 7, whose
# "$schema" was left out on the way; what they take for checked was not.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

func main() {
	for _, text := range []string{
		`{"items":[{"type":"string"}]}`,
		`{"prefixItems":[{"type":"string"}]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`,
	} {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			panic(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			fmt.Println("no schema:", err)
			continue
		}
		fmt.Println("refused:", resolved.Validate([]any{1.0}) != nil)
	}
}
END
go mod init probe >/dev/null 2>&1
go get github.com/google/jsonschema-go@v0.4.3 >/dev/null 2>&1
go run . | tee out
[ "$(cat out)" = $'refused: false\nrefused: true\nrefused: true' ] || { echo "changed"; exit 1; }
echo "as stated: a list in items is taken and not looked at"
