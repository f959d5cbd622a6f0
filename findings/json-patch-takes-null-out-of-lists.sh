#!/usr/bin/env bash
# evanphx/json-patch v5.9.11: MergePatch takes members that are null out of the objects in a list of the patch.
#
# Expected: RFC 7396 reads null as "take away" in the objects that it merges, and puts a list in place as it is; so does npm's
# json-merge-patch 1.0.2 (run once, not by this script). Seen: {"a":[{"b":null}]} gives {"a":[{}]}; null as an element of the
# list stays. No error.
#
# Who meets it: settings, schemas and requests that are merged by it: a tool's {"anyOf":[{"const":null}]} or a list of
# parameters with "default": null loses the null and means something else.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

func main() {
	for _, patch := range []string{`{"a":[null,1]}`, `{"a":[{"b":null,"c":1}]}`, `{"anyOf":[{"const":null},{"type":"string"}]}`, `{"a":[[{"b":null}]]}`, `{"a":{"b":null,"c":1}}`} {
		merged, err := jsonpatch.MergePatch([]byte(`{}`), []byte(patch))
		fmt.Println(patch, "gives", string(merged), err)
	}
	for _, patch := range []string{`[{"op":"add","path":"/a","value":[{"b":null}]}]`} {
		p, err := jsonpatch.DecodePatch([]byte(patch))
		if err != nil {
			panic(err)
		}
		got, err := p.Apply([]byte(`{}`))
		fmt.Println("Apply of", patch, "gives", string(got), err)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/evanphx/json-patch/v5@v5.9.11 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
{"a":[null,1]} gives {"a":[null,1]} <nil>
{"a":[{"b":null,"c":1}]} gives {"a":[{"c":1}]} <nil>
{"anyOf":[{"const":null},{"type":"string"}]} gives {"anyOf":[{},{"type":"string"}]} <nil>
{"a":[[{"b":null}]]} gives {"a":[[{}]]} <nil>
{"a":{"b":null,"c":1}} gives {"a":{"c":1}} <nil>
Apply of [{"op":"add","path":"/a","value":[{"b":null}]}] gives {"a":[{"b":null}]} <nil>
END
echo "as stated: null is taken out of objects in a list"
