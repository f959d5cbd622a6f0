package archtest

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// codeKinds are file extensions that count as code, in every language. A table that the program
// reads also counts.
var codeKinds = []string{".c", ".css", ".go", ".html", ".js", ".mjs", ".py", ".s", ".sh", ".table", ".tmpl", ".ts"}

// Lines counts the lines in each room at root: a folder at the top or below internal, or "." for
// the files at the top. It skips tests, testdata and findings.
func Lines(root fs.FS) (map[string]int, error) {
	rooms := map[string]int{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			base := d.Name()
			if base == "testdata" || name == "findings" || base == "node_modules" || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		case !slices.Contains(codeKinds, path.Ext(name)) || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		rooms[roomOf(name)] += bytes.Count(content, []byte("\n"))
		return nil
	})
	return rooms, err
}

func roomOf(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 1:
		return "."
	case parts[0] == "internal" && len(parts) > 2:
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}
