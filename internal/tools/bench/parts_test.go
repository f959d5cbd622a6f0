//go:build unix

package bench

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// part is what packages with one beginning of their paths take of the program.
type part struct{ code, data float64 }

// TestPartsOfTheBinary prints the largest parts of the program, as the table of README.md shows them.
//
//	ADZE_TESTS=long go test -v -run PartsOfTheBinary ./internal/tools/bench
func TestPartsOfTheBinary(t *testing.T) {
	effort.Needs(t, effort.Long, "it links the program once more, and only prints")
	if runtime.GOOS != "linux" {
		t.Skip("it reads an ELF file")
	}
	binary := filepath.Join(t.TempDir(), "adze")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "adze")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	parts, code := map[string]part{}, 0.0
	for _, s := range symbols {
		if s.Section >= elf.SHN_LORESERVE || f.Sections[s.Section].Type == elf.SHT_NOBITS || s.Size == 0 {
			continue // it takes nothing of the file
		}
		name := partOf(s.Name)
		p := parts[name]
		if f.Sections[s.Section].Name == ".text" {
			p.code += float64(s.Size) / 1e6
			code += float64(s.Size) / 1e6
		} else {
			p.data += float64(s.Size) / 1e6
		}
		parts[name] = p
	}
	// Tables of places in the source and of what is alive there grow with the code.
	tables := float64(f.Section(".gopclntab").Size)/1e6 + parts["go:func"].data
	delete(parts, "go:func")
	whole := func(p part) float64 { return p.code*(1+tables/code) + p.data }
	t.Logf("code %.1f MB, its tables %.1f MB", code, tables)
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int { return cmp.Compare(whole(parts[b]), whole(parts[a])) })
	for _, name := range names[:min(len(names), 40)] {
		fmt.Printf("| `%s` | %.2f | %.2f | %.2f |\n", name, parts[name].code, parts[name].data, whole(parts[name]))
	}
}

// partOf is the beginning of a package's path by which symbols are summed up: the module of others,
// the first two folders of our own and of the standard library.
func partOf(symbol string) string {
	for _, kind := range []string{"type:.eq.", "type:.hash.", "go:itab.", "*"} {
		symbol = strings.TrimPrefix(symbol, kind)
	}
	symbol, _, _ = strings.Cut(symbol, "[")
	path, _, _ := strings.Cut(symbol, "(")
	slash := strings.LastIndex(path, "/") + 1
	if dot := strings.Index(path[slash:], "."); dot >= 0 {
		path = path[:slash+dot]
	}
	words := strings.Split(strings.ReplaceAll(path, "%2e", "."), "/")
	n := 2
	if words[0] == "adze" || strings.Contains(words[0], ".") {
		n = 3
	}
	return strings.Join(words[:min(n, len(words))], "/")
}
