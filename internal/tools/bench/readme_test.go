//go:build unix

package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheReadmeNamesEveryBenchmark finds those that nobody would know of.
func TestTheReadmeNamesEveryBenchmark(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`)
	var found int
	err = filepath.WalkDir("../../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			found++
			if !regexp.MustCompile(`\b` + string(m[1]) + `\b`).Match(readme) {
				t.Errorf("README.md does not name Benchmark%s of %s", m[1], path)
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d benchmarks, %v", found, err)
	}
}
