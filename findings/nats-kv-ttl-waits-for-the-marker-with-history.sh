#!/usr/bin/env bash
# nats-server 2.15.1 with nats.go 1.55.0: a key with a time to live of 1 s is still there after 4 s, for Get and for Create, if
# its bucket keeps two values a key. In a bucket that keeps one it is gone.
#
# Expected: the time to live is the key's; how many values a bucket keeps changes nothing. Seen: with History 2 the key
# stays until LimitMarkerTTL is over, a setting for the mark that tells watchers of the end; Create says "key exists".
#
# Who meets it: whoever holds a lease or a lock as a key with a time to live (one worker for one job): with a longer history
# the lease of a dead worker is not free when it says so, and nobody goes on with its job for an hour.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: os.Args[1], Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	defer s.Shutdown()
	s.ReadyForConnections(10 * time.Second)
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		panic(err)
	}
	js, _ := jetstream.New(nc)
	ctx := context.Background()
	for _, history := range []uint8{1, 2} {
		kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: fmt.Sprint("b", history), History: history, LimitMarkerTTL: time.Hour})
		if err != nil {
			panic(err)
		}
		if _, err := kv.Create(ctx, "lease", []byte("a"), jetstream.KeyTTL(time.Second)); err != nil {
			panic(err)
		}
		time.Sleep(4 * time.Second)
		_, got := kv.Get(ctx, "lease")
		_, made := kv.Create(ctx, "lease", []byte("b"), jetstream.KeyTTL(time.Second))
		fmt.Printf("history %d: get %v, create %v\n", history, got, made)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/nats-io/nats-server/v2@v2.15.1 github.com/nats-io/nats.go@v1.55.0 >/dev/null 2>&1
go run . "$dir/store" | tee out
fail() { echo "changed: $*"; exit 1; }
grep -q '^history 1: get nats: key not found, create <nil>$' out || fail "a history of one"
grep -q '^history 2: get <nil>, create .*key exists' out || fail "a history of two"
echo "as stated: with a history of two the key outlives its time"
