#!/usr/bin/env bash
# google.golang.org/genai v1.77.0: a comment in a stream of server-sent events (": keep-alive") ends the stream with an error,
# and so does an event with a name. @google/genai 2.32.0 for node reads past the comment, and drops an event with a name
# without an error.
#
# Expected: both read past both: a line that begins with a colon is ignored, as the specification says of exactly this use,
# and a name that nobody asks for changes nothing. Seen: two clients of one vendor differ, and neither takes both.
#
# Who meets it: users of a gateway or a proxy before the API that keeps slow answers alive, or that names its events, as the
# APIs of other vendors do. It works on fast answers and fails on slow ones.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
export HOME="$dir/home" NPM_CONFIG_UPDATE_NOTIFIER=false
export GOPATH=${GOPATH:-$(go env GOPATH)} GOCACHE=${GOCACHE:-$(go env GOCACHE)}
mkdir -p "$HOME"
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"google.golang.org/genai"
)

func main() {
	log.SetOutput(io.Discard)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.ServeFile(w, r, os.Args[1])
	}))
	defer server.Close()
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	})
	if err != nil {
		panic(err)
	}
	text, failed := "", 0
	for r, err := range client.Models.GenerateContentStream(context.Background(), "m", genai.Text("hi"), nil) {
		if err != nil {
			failed++
			continue
		}
		text += r.Text()
	}
	fmt.Printf("%q, %d errors\n", text, failed)
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get google.golang.org/genai@v1.77.0 >/dev/null 2>&1
go build -o probe .
npm install --prefix "$dir/npm" --no-audit --no-fund --ignore-scripts --loglevel=error @google/genai@2.32.0 >/dev/null
cat >npm/probe.mjs <<'END'
import { GoogleGenAI } from '@google/genai'
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(readFileSync(process.argv[2]))
}).listen(0, '127.0.0.1', async () => {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `http://127.0.0.1:${server.address().port}` } })
  let text = '', failed = 0
  try {
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'hi' })) text += chunk.text ?? ''
  } catch { failed++ }
  console.log(`${JSON.stringify(text)}, ${failed} errors`)
  server.close()
})
END
piece() { echo "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"$1\"}]}}]}"; }
printf 'data: %s\n\ndata: %s\n\n' "$(piece a)" "$(piece b)" >plain
printf 'data: %s\n\n: keep-alive\n\ndata: %s\n\n' "$(piece a)" "$(piece b)" >comment
printf 'data: %s\n\nevent: message\ndata: %s\n\n' "$(piece a)" "$(piece b)" >named
for file in plain comment named; do
  echo "$file: go $(./probe "$file"), node $(node npm/probe.mjs "$file" 2>/dev/null)"
done | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qx 'plain: go "ab", 0 errors, node "ab", 0 errors' out || fail "a plain stream"
grep -qx 'comment: go "a", 1 errors, node "ab", 0 errors' out || fail "a comment"
grep -qx 'named: go "a", 1 errors, node "a", 0 errors' out || fail "an event with a name"
echo "as stated: a comment ends the Go client's stream, and a named event is an error for one and lost for the other"
