#!/usr/bin/env bash
# git apply 2.39.5, GNU patch 2.7 and bluekeyes/go-gitdiff v0.9.0: lines of a hunk behind the number that its head counts are
# dropped without an error, so that a patch is applied in part. go-gitdiff also drops a whole hunk whose head has no numbers.
#
# Expected: an error ("corrupt patch", "miscounts lines"), as all give one for a head that counts too many; diff 9.0.0 (jsdiff)
# refuses both. Seen: a hunk with two changes under "@@ -1,3 +1,3 @@" makes the first of them, exit code 0, nothing said; under
# "@@ @@" go-gitdiff gives the text back as it was, where git refuses.
#
# Who meets it: assistants that apply a diff which a model wrote, and models that pipe one into git apply. Models count badly; a
# number too high is an error, and one too low is half of a change, called a success.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
export NPM_CONFIG_UPDATE_NOTIFIER=false
cd "$dir"
cat >main.go <<'END'
package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

func main() {
	for _, head := range []string{"@@ -1,5 +1,5 @@", "@@ -1,3 +1,3 @@", "@@ @@", "@@ -1,9 +1,9 @@"} {
		patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n" + head + "\n a\n-b\n+B\n c\n-d\n+D\n e\n"
		files, _, err := gitdiff.Parse(strings.NewReader(patch))
		var out bytes.Buffer
		if err == nil {
			err = gitdiff.Apply(&out, strings.NewReader("a\nb\nc\nd\ne\n"), files[0])
		}
		fmt.Printf("%s %q %v\n", head, out.String(), err != nil)
	}
}
END
go mod init probe >/dev/null 2>&1
go get github.com/bluekeyes/go-gitdiff@v0.9.0 >/dev/null 2>&1
go run . | tee out
diff out - <<'END' || { echo "changed"; exit 1; }
@@ -1,5 +1,5 @@ "a\nB\nc\nD\ne\n" false
@@ -1,3 +1,3 @@ "a\nB\nc\nd\ne\n" false
@@ @@ "a\nb\nc\nd\ne\n" false
@@ -1,9 +1,9 @@ "" true
END
printf '%s\n' '--- a/x' '+++ b/x' '@@ -1,3 +1,3 @@' ' a' '-b' '+B' ' c' '-d' '+D' ' e' >patch
for program in 'git apply' 'patch -s -p1 -i'; do
  command -v ${program%% *} >/dev/null || continue
  printf 'a\nb\nc\nd\ne\n' >x
  $program patch || { echo "changed: $program refuses it"; exit 1; }
  [ "$(tr '\n' ' ' <x)" = 'a B c d e ' ] || { echo "changed: $program makes"; cat x; exit 1; }
done
sed 's/^@@.*/@@ @@/' patch >none
if git apply none 2>/dev/null; then echo "changed: git takes a head without numbers"; exit 1; fi
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error diff@9.0.0 >/dev/null
node -e 'const text = require("fs").readFileSync("patch", "utf8"); try { require("diff").applyPatch("a\nb\nc\nd\ne\n", text) } catch { process.exit(9) }' \
  && { echo "changed: jsdiff takes it"; exit 1; }
echo "as stated: what is behind the count is dropped"
