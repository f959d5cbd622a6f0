#!/usr/bin/env bash
# sourcegraph/go-diff v0.10.0: the lines of a hunk lose their carriage returns, so that a diff of a file with CRLF no longer
# applies after it was parsed and printed.
#
# Expected: the body of a hunk holds the bytes of the diff, as bluekeyes/go-gitdiff v0.9.0 keeps them, run beside it. Seen:
# "-b<CR>" is "-b" in Hunk.Body; a diff that changes b<CR><LF> to b<LF>, the ends of the lines alone, has two equal lines. No
# error. git apply 2.39.5 takes the diff as git made it, and refuses what PrintMultiFileDiff makes of it.
#
# Who meets it: tools that take a diff apart by file or by hunk and apply, store or show the parts (a review of a model's
# changes): in a checkout from Windows no part applies, and a change of line ends alone shows nothing.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'END'
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/sourcegraph/go-diff/diff"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	must(exec.Command("git", "init", "-q", "repo").Run())
	must(os.WriteFile("repo/x", []byte("a\r\nb\r\n"), 0o644))
	apply := func(patch []byte) bool {
		must(os.WriteFile("p.patch", patch, 0o644))
		return exec.Command("git", "-C", "repo", "apply", "--check", "../p.patch").Run() == nil
	}
	text := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
	files, err := diff.ParseMultiFileDiff([]byte(text))
	must(err)
	fmt.Printf("go-diff %q\n", files[0].Hunks[0].Body)
	printed, err := diff.PrintMultiFileDiff(files)
	must(err)
	fmt.Println("git apply: as it was", apply([]byte(text)), "parsed and printed", apply(printed))
	others, _, err := gitdiff.Parse(strings.NewReader(text))
	must(err)
	fmt.Printf("go-gitdiff %q\n", others[0].TextFragments[0].Lines[1].Line)
	files, err = diff.ParseMultiFileDiff([]byte("--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\r\n+b\n"))
	must(err)
	fmt.Printf("ends alone %q\n", files[0].Hunks[0].Body)
}
END
export GOFLAGS=-mod=mod
go mod init probe >/dev/null 2>&1
go get github.com/sourcegraph/go-diff@v0.10.0 github.com/bluekeyes/go-gitdiff@v0.9.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
go-diff " a\n-b\n+c\n"
git apply: as it was true parsed and printed false
go-gitdiff "b\r\n"
ends alone "-b\n+b\n"
END
echo "as stated: the carriage returns are gone, and the diff does not apply"
