#!/usr/bin/env bash
# bmatcuk/doublestar v4.10.4: a pattern with braces beside a star matches less than its alternatives written out one by one.
#
# Expected: a group matches where one of its alternatives does, so that logs*{,.old} is logs* or logs*.old. Seen: where the
# star stands for nothing, "logs*{,.old}" does not match "logs", which "logs*" does, and "{log*,trace}{,.old}" does not
# match "log". Match returns no error. Groups without a star before them are fine: "{a,b}.go" and "a{,.bak}".
#
# Who meets it: lists of files to watch, to leave out or to guard, in the many Go programs (linters, bots, assistants) that
# take such patterns from their users: a file that is named is missed without a word.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/bmatcuk/doublestar/v4@v4.10.4 >/dev/null 2>&1
cat >main.go <<'END'
package main

import (
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

func main() {
	for _, c := range [][]string{
		{"logs", "logs*{,.old}", "logs*", "logs*.old"},
		{"log", "{log*,trace}{,.old}", "log*", "log*.old", "trace", "trace.old"},
		{"a.go", "{a,b}.go", "a.go", "b.go"},
		{"a", "a{,.bak}", "a", "a.bak"},
	} {
		whole, err := doublestar.Match(c[1], c[0])
		one := false
		for _, alternative := range c[2:] {
			ok, _ := doublestar.Match(alternative, c[0])
			one = one || ok
		}
		fmt.Printf("%s by %s: %v, by one of its alternatives: %v, error: %v\n", c[0], c[1], whole, one, err)
	}
}
END
go run . | tee out
fail() { echo "changed: $*"; exit 1; }
grep -qxF 'logs by logs*{,.old}: false, by one of its alternatives: true, error: <nil>' out || fail "a star before a group"
grep -qxF 'log by {log*,trace}{,.old}: false, by one of its alternatives: true, error: <nil>' out || fail "two groups"
grep -qxF 'a.go by {a,b}.go: true, by one of its alternatives: true, error: <nil>' out || fail "a plain group"
grep -qxF 'a by a{,.bak}: true, by one of its alternatives: true, error: <nil>' out || fail "an empty alternative"
echo "as stated: braces beside a star find less than their alternatives"
