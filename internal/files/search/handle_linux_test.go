package search

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// TestShortReadsEndFilesOnDisksAlone holds that a read that does not fill the buffer is taken for
// the end only where the system promises it. In /proc it is not: there a file of many lines comes
// in parts.
func TestShortReadsEndFilesOnDisksAlone(t *testing.T) {
	proc, err := Tree{Root: "/proc"}.openRoot()
	if err != nil {
		t.Skip("there is no /proc here")
	}
	defer proc.close()
	if proc.fullReads {
		t.Error("a short read of a file in /proc is taken for its end")
	}
	slash, err := Tree{Root: "/"}.openRoot()
	must(t, err)
	defer slash.close()
	mounted, err := slash.openFolder("proc")
	must(t, err)
	defer mounted.close()
	if mounted.fullReads {
		t.Error("a short read of a file in /proc is taken for its end, if the folder was reached from /")
	}
	dir := tree(t, map[string]string{"a": "text", strings.Repeat("n", 255): "long name"})
	at, err := dir.openRoot()
	must(t, err)
	defer at.close()
	var h handle
	for name, want := range map[string]string{"a": "text", strings.Repeat("n", 255): "long name"} {
		for _, whole := range []bool{true, false} {
			at.fullReads = whole
			must(t, at.openFile(name, &h))
			text, err := io.ReadAll(&h)
			if must(t, h.Close()); err != nil || string(text) != want {
				t.Errorf("%.9s gives %q, %v", name, text, err)
			}
		}
	}
	if err := at.openFile("none", &h); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name that is not there gives %v", err)
	}
}
