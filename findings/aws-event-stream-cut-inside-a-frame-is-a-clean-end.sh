#!/usr/bin/env bash
# aws-sdk-go-v2/aws/protocol/eventstream v1.7.27: a stream that stops inside a frame ends with io.EOF, the error of a stream that
# stops between two frames, wherever a field of the frame ends.
#
# Expected: io.ErrUnexpectedEOF, or another error than that of a clean end, at each byte inside a frame. Seen: io.EOF when it is cut
# behind its length, behind the length of its headers, and anywhere inside its payload.
#
# Who meets it: clients of streams without a terminal event, which take a cut answer for a whole one.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

func main() {
	var frame bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&frame, eventstream.Message{Payload: []byte("payload")}); err != nil {
		panic(err)
	}
	clean := []int{}
	for n := 1; n < frame.Len(); n++ {
		if _, err := eventstream.NewDecoder().Decode(bytes.NewReader(frame.Bytes()[:n]), nil); err == io.EOF {
			clean = append(clean, n)
		}
	}
	fmt.Println(frame.Len(), clean)
}
END
go mod init probe >/dev/null 2>&1
go get github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream@v1.7.27 >/dev/null 2>&1
go run . | tee out
[ "$(cat out)" = "23 [4 8 12 13 14 15 16 17 18 19]" ] || { echo "changed"; exit 1; }
echo "as stated: a frame that is cut there ends as a whole stream does"
