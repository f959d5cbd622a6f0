package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRealityIsTested finds the test of each row of testdata/reality.md: a case, or a package and
// a function in it.
func TestRealityIsTested(t *testing.T) {
	const root = "../../.."
	raw, err := os.ReadFile(filepath.Join(root, "testdata/reality.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\|.*\\| `([^`|]+)` \\|$").FindAllStringSubmatch(string(raw), -1)
	if want := strings.Count(string(raw), "\n|") - 2; len(rows) != want {
		t.Errorf("%d of %d rows name a test", len(rows), want)
	}
	for _, row := range rows {
		folder, name, function := strings.Cut(row[1], " ")
		if !function {
			if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
				t.Error(err)
			}
			continue
		}
		files, _ := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			found = found || err == nil && bytes.Contains(text, []byte("\nfunc "+name+"(t *testing.T)"))
		}
		if !found {
			t.Errorf("%s has no %s", folder, name)
		}
	}
}
