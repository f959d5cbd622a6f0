// Package golden runs test cases that are text files: what goes in and what must come out, readable
// in one place. It is imported by tests only.
//
// A case is a txtar archive named after the behaviour it shows. It opens with a sentence on lines
// that start with #; the rest of the opening is the input (the arguments of a tool, the size of a
// screen). Then come the files that are laid out before the test, and the want sections with what
// must come out:
//
//	# read stops at the limit and says how to go on
//	{"path": "long.txt", "limit": 2}
//	-- long.txt --
//	a
//	b
//	-- want.output --
//	1  a
//
// The one rule: only what a case writes down is compared. A want section that is absent says
// nothing, unless the input names it (Case.Demand); one that the test compares with nothing fails
// the case, as a wrong name would. And -update rewrites only the wants that are there; every other
// byte of the file stays.
//
// txtar ends every section with a newline, so a value that lacks one is compared as if it had it.
// Where that matters, or CR, NUL or a byte order mark does, "(quoted)" after the section's name
// makes each line the inside of a Go string without an implied newline: -- dos.txt (quoted) --,
// then a\r\nb.
//
// Start reading at Cases, then Case.Want.
//
// Known limits: file modes and symbolic links cannot be written down; the test makes them.
package golden

import (
	"flag"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// update is the flag of every package that tests with golden; none declares its own -update.
var update = flag.Bool("update", false, "rewrite the want sections of golden cases from what the code does now")

// Updating reports whether -update was given.
func Updating() bool { return *update }

// Cases runs each *.txtar under dir as a subtest named after its file. No case at all is a failure:
// a test that reads the wrong folder must not pass.
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

// find lists the cases under dir in the order of their paths.
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
