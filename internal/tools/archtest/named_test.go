package archtest

import (
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPackagesOfCommentsExist follows each comment that sends its reader to a package by name: it
// is a folder of this tree, or an element of a path that something here imports.
func TestPackagesOfCommentsExist(t *testing.T) {
	m, err := load(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	// Packages that no Go file here imports: one of npm, and one that a test writes.
	known := map[string]bool{"ai": true, "attempt": true}
	for _, p := range m.packages {
		known[path.Base(p.path)] = true
		for _, f := range p.files {
			known[f.ast.Name.Name] = true
			for _, i := range f.ast.Imports {
				imported, _ := strconv.Unquote(i.Path.Value)
				for element := range strings.SplitSeq(imported, "/") {
					known[element] = true
				}
			}
		}
	}
	named := regexp.MustCompile(`(?:^|\(|\b(?:see|of|in|by|than|from|where|which|what|with) )package ([a-z][a-z0-9]+)\b`)
	found := 0
	for _, p := range m.packages {
		for _, f := range p.files {
			for _, group := range f.ast.Comments {
				for _, name := range named.FindAllStringSubmatch(strings.ReplaceAll(group.Text(), "\n", " "), -1) {
					if found++; !known[name[1]] {
						t.Errorf("%s: the comment names package %s, and there is none", m.fset.Position(group.Pos()), name[1])
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d packages are named", found)
	}
}
