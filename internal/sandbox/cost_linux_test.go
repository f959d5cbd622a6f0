package sandbox_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
)

// The folder for temporary files is each command's own, and none stays behind.
func TestTemporaryFilesOfACommandAreItsOwn(t *testing.T) {
	b := newBench(t, sandbox.Landlock)
	cage := sandbox.ByMeans(b.box, sandbox.Landlock)
	seen := map[string]int{}
	for _, left := range []string{"", "echo x > $TMPDIR/file;", "mkdir $TMPDIR/folder;", "rmdir $TMPDIR;", "rmdir $TMPDIR; ln -s / $TMPDIR;", ""} {
		r, err := b.try(t.Context(), cage, `echo "$TMPDIR $(stat -c %A "$TMPDIR") $(ls -A "$TMPDIR" | wc -l)";`+left)
		f := strings.Fields(text(r))
		if err != nil || len(f) != 3 || f[1] != "drwx------" || f[2] != "0" {
			t.Fatalf("before %q: %q %v", left, text(r), err)
		}
		seen[f[0]]++
	}
	if len(seen) < 6 {
		t.Error("a folder was used twice")
	}
	b.box.Close()
	if left, _ := filepath.Glob(filepath.Join(b.state, "sandbox", "cache", "*", "tmp-*")); len(left) > 0 {
		t.Errorf("%v stay", left)
	}
}
