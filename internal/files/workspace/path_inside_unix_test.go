//go:build unix

package workspace

import (
	"strings"
	"testing"
)

func TestCutFolder(t *testing.T) {
	long := "/" + strings.Repeat("long/", 20) + "folder"
	for _, c := range []struct {
		path, folder, rest string
		inside             bool
	}{
		{"/a/b/c", "/a", "b/c", true},
		{"/a/b", "/a/", "b", true},
		{"/a", "/", "a", true},
		{"/a", "/a", "/a", false},
		{"/ab/c", "/a", "/ab/c", false},
		{"/b", "/a", "/b", false},
		{long + "/x", long, "x", true},
	} {
		if rest, inside := cutFolder(c.path, c.folder); rest != c.rest || inside != c.inside {
			t.Errorf("%q in %q: %q, %v", c.path, c.folder, rest, inside)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = cutFolder(c.path, c.folder) }); n > 0 {
			t.Errorf("%q in %q: %v allocations", c.path, c.folder, n)
		}
	}
}
