#!/usr/bin/env bash
# gopkg.in/ini.v1 v1.68.0: a value that ends in a backslash is written as it is, and read together with the next line: that
# key is gone, and its line is part of the value.
#
# Expected: what the package writes it reads as it was, as it does for ";", "#", quotes and line ends in a value, which it
# puts in marks. Seen: dir=C:\work\ and next=x come back as dir="C:\worknext = x", without an error and without "next". With
# the option IgnoreContinuation both are right.
#
# Who meets it: programs that keep folders of Windows, or patterns that end in a backslash, in an .ini file (credentials and
# settings of tools): the file is right until it is saved by the program.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"bytes"
	"fmt"

	"gopkg.in/ini.v1"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	f := ini.Empty()
	s := f.Section("s")
	s.Key("dir").SetValue(`C:\work\`)
	s.Key("next").SetValue("x")
	s.Key("marks").SetValue(`a;b #c "d"`)
	s.Key("lines").SetValue("a\nb")
	var b bytes.Buffer
	_, err := f.WriteTo(&b)
	must(err)
	fmt.Printf("%q\n", b.String())
	for _, ignore := range []bool{false, true} {
		r, err := ini.LoadSources(ini.LoadOptions{IgnoreContinuation: ignore}, b.Bytes())
		must(err)
		fmt.Println("IgnoreContinuation", ignore)
		for _, name := range []string{"dir", "next", "marks", "lines"} {
			fmt.Printf("  %s %t %q\n", name, r.Section("s").HasKey(name), r.Section("s").Key(name).String())
		}
	}
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get gopkg.in/ini.v1@v1.68.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
"[s]\ndir   = C:\\work\\\nnext  = x\nmarks = `a;b #c \"d\"`\nlines = \"\"\"a\nb\"\"\"\n"
IgnoreContinuation false
  dir true "C:\\worknext  = x"
  next false ""
  marks true "a;b #c \"d\""
  lines true "a\nb"
IgnoreContinuation true
  dir true "C:\\work\\"
  next true "x"
  marks true "a;b #c \"d\""
  lines true "a\nb"
END
echo "as stated: a backslash at the end of a value takes the next line along"
