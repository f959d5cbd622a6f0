package outputs

import (
	"os"
	"strings"
	"testing"

	"adze/internal/text/redact"
)

// No secret gets into a file, wherever its pieces are cut.
func TestAFileHoldsNoSecret(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE5gH7j", 4)[:36]
	whole := "before\n" + key + "\nknown value-of-mine-1\nafter\n" + key
	const want = "before\n[masked]\nknown [masked]\nafter\n[masked]"
	files := NewFiles(t.TempDir())
	files.Mask = func() *redact.Masker { return redact.New("value-of-mine-1") }
	path, err := files.Save(t.Context(), "c1", whole)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{path}
	for size := 1; size < len(whole); size += 3 {
		f, path, err := files.Open("c2")
		if err != nil {
			t.Fatal(err)
		}
		for rest := whole; rest != ""; rest = rest[min(size, len(rest)):] {
			if n, err := f.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err != nil || string(raw) != want {
			t.Errorf("%q, %v; want %q", raw, err, want)
		}
	}
}
