// Package golden runs test cases in text files with input and expected output. Only tests import
// it.
//
// A case is a txtar archive named after the behavior it shows. It opens with a sentence on lines
// that start with #; the rest of the opening is the input (a tool's arguments, a screen size). Then
// come the files to lay out before the test, and the want sections with expected results:
//
//	# read stops at the limit and says how to go on
//	{"path": "long.txt", "limit": 2}
//	-- long.txt --
//	a
//	b
//	-- want.output --
//	1  a
//
// The one rule: only want sections that exist are compared. A missing one has no effect, unless the
// input names it (Case.Demand); an unused one fails the case, because its name may be wrong.
// -update rewrites only existing wants and keeps every other byte.
//
// txtar ends every section with a newline, so a value without one is compared as if it had it. If
// that matters, or CR, NUL or a byte order mark does, "(quoted)" after the section's name makes
// each line the inside of a Go string without an implied newline: -- dos.txt (quoted) --, then
// a\r\nb.
//
// Start reading at Cases, then Case.Want.
//
// Known limits: the test itself must make file modes and symbolic links.
package golden

import (
	"flag"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A flag for every package that tests with golden; none declares its own -update.
var update = flag.Bool("update", false, "rewrite the want sections of golden cases from what the code does now")

// Updating reports whether -update was given.
func Updating() bool { return *update }

// Cases runs each *.txtar under dir as a subtest named after its file. It fails if there is none,
// because the folder is probably wrong.
func Cases(t *testing.T, dir string, run func(t *testing.T, c *Case)) {
	t.Helper()
	paths, err := find(dir)
	if err != nil {
		t.Fatalf("golden: %v", err)
	}
	if len(paths) == 0 {
		t.Fatalf("golden: no *.txtar in %s", dir)
	}
	for _, path := range paths {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatalf("golden: %v", err)
		}
		t.Run(strings.TrimSuffix(filepath.ToSlash(rel), ".txtar"), func(t *testing.T) {
			c := Read(t, path)
			run(t, c)
			if idle := c.idle(); len(idle) > 0 {
				t.Errorf("golden: %s: nothing is compared with %s", path, strings.Join(idle, ", "))
			}
		})
	}
}

func find(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".txtar" {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
