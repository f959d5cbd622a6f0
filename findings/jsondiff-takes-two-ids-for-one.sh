#!/usr/bin/env bash
# wI2L/jsondiff v0.7.1: two documents that differ in an id of 64 bits are equal: the patch is empty, where 9007199254740993
# became 9007199254740992. Where it is not empty, the id in it is another one than in the document.
#
# Expected: JSON's numbers have no limit, and the texts differ; evanphx/json-patch v5.9.11, run beside it, tells them apart
# and keeps the digits. Seen: no operation and no error; of an id that is added the patch holds a neighbour. UnmarshalFunc
# with UseNumber of encoding/json keeps them.
#
# Who meets it: programs that make patches of state or settings with ids of messages, rows or users: a change of the id is
# never sent, and one that is sent names another record.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/wI2L/jsondiff"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	numbers := jsondiff.UnmarshalFunc(func(b []byte, v any) error {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		return d.Decode(v)
	})
	for _, pair := range [][2]string{
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`},
		{`{}`, `{"id":9007199254740993}`},
		{`{"id":1}`, `{"id":2}`},
	} {
		one, err := jsondiff.CompareJSON([]byte(pair[0]), []byte(pair[1]))
		must(err)
		two, err := jsondiff.CompareJSON([]byte(pair[0]), []byte(pair[1]), numbers)
		must(err)
		merge, err := jsonpatch.CreateMergePatch([]byte(pair[0]), []byte(pair[1]))
		must(err)
		fmt.Printf("%s to %s\n  jsondiff %s\n  with UseNumber %s\n  json-patch %s\n", pair[0], pair[1], one, two, merge)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/wI2L/jsondiff@v0.7.1 github.com/evanphx/json-patch/v5@v5.9.11 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
{"id":9007199254740993} to {"id":9007199254740992}
  jsondiff []
  with UseNumber [{"value":9007199254740992,"op":"replace","path":"/id"}]
  json-patch {"id":9007199254740992}
{} to {"id":9007199254740993}
  jsondiff [{"value":9007199254740992,"op":"add","path":"/id"}]
  with UseNumber [{"value":9007199254740993,"op":"add","path":"/id"}]
  json-patch {"id":9007199254740993}
{"id":1} to {"id":2}
  jsondiff [{"value":2,"op":"replace","path":"/id"}]
  with UseNumber [{"value":2,"op":"replace","path":"/id"}]
  json-patch {"id":2}
END
echo "as stated: two ids are one"
