#!/usr/bin/env bash
# mattn/go-shellwords v1.0.16: "\n" and "\t" between double quotes, and without quotes, become a line end and a tab. "\d"
# loses its backslash between double quotes.
#
# Expected: as in a shell, run beside it: between double quotes a backslash stays before any letter, and without quotes it
# goes and the letter stays. Seen: "C:\new\temp" has a line end and a tab in it, "\d+" is "d+", a\tb is "a<TAB>b" where bash
# has "atb"; single quotes are right. google/shlex v0.0.0-20191202100458-e7afc7fbc510 drops the backslash everywhere:
# "C:newtemp".
#
# Who meets it: programs in Go that take a command as one text from settings or from a model and split it by these: regular
# expressions of grep, printf's formats and paths of Windows are other texts, and the command runs.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/google/shlex"
	"github.com/mattn/go-shellwords"
)

func main() {
	for _, line := range []string{`x "C:\new\temp"`, `grep "\d+\.go"`, `printf "%s\n"`, `printf '%s\n'`, `a\tb`, `"\$A"`} {
		out, err := exec.Command("bash", "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			panic(err)
		}
		one, err := shellwords.Parse(line)
		if err != nil {
			panic(err)
		}
		two, err := shlex.Split(line)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n  bash        %q\n  shellwords  %q\n  shlex       %q\n", line, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), one, two)
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/mattn/go-shellwords@v1.0.16 github.com/google/shlex@v0.0.0-20191202100458-e7afc7fbc510 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
x "C:\new\temp"
  bash        ["x" "C:\\new\\temp"]
  shellwords  ["x" "C:\new\temp"]
  shlex       ["x" "C:newtemp"]
grep "\d+\.go"
  bash        ["grep" "\\d+\\.go"]
  shellwords  ["grep" "d+.go"]
  shlex       ["grep" "d+.go"]
printf "%s\n"
  bash        ["printf" "%s\\n"]
  shellwords  ["printf" "%s\n"]
  shlex       ["printf" "%sn"]
printf '%s\n'
  bash        ["printf" "%s\\n"]
  shellwords  ["printf" "%s\\n"]
  shlex       ["printf" "%s\\n"]
a\tb
  bash        ["atb"]
  shellwords  ["a\tb"]
  shlex       ["atb"]
"\$A"
  bash        ["$A"]
  shellwords  ["$A"]
  shlex       ["$A"]
END
echo "as stated: a backslash and a letter are another character"
