package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWhatIsLeftBehindAGapGoes has one of several writers killed, the others of which ended.
func TestWhatIsLeftBehindAGapGoes(t *testing.T) {
	dir := t.TempDir()
	left := name(dir, names-1)
	if err := os.WriteFile(left, []byte("a part"), private); err != nil {
		t.Fatal(err)
	}
	for range 1_000 { // each write meets one name of sixteen
		if err := WriteCache(filepath.Join(dir, "file"), []byte("whole")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(left); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Errorf("%s is still there", left)
}
