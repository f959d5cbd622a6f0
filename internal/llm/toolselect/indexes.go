package toolselect

import (
	"os"
	"path/filepath"
	"slices"

	"adze/internal/files/atomicfile"
	"adze/tool"
	"adze/tool/rank"
)

// mostIndexes is how many indexes are kept: each folder with servers or tools of its own has one.
const mostIndexes = 16

// indexes keeps the indexes of scorers in a folder, by what they are of; if empty, they are made
// anew in each run.
type indexes string

// of are those of a set. Another definition is another name: what is kept is of these tools or not
// found.
func (dir indexes) of(set *tool.Set) rank.Shelf {
	if dir == "" {
		return rank.Shelf{}
	}
	file := func(scorer string) string {
		return filepath.Join(string(dir), scorer+"-"+set.Digest()[:32]+".index")
	}
	return rank.Shelf{
		Load: func(scorer string) []byte {
			raw, _ := os.ReadFile(file(scorer)) // what cannot be read is made
			return raw
		},
		Save: func(scorer string, raw []byte) {
			if os.MkdirAll(string(dir), 0o700) == nil && atomicfile.WriteCache(file(scorer), raw) == nil {
				dir.trim()
			}
		},
	}
}

// trim removes the oldest where there are too many.
func (dir indexes) trim() {
	all, _ := filepath.Glob(filepath.Join(string(dir), "*.index"))
	age := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(all, func(a, b string) int { return int(min(1, max(-1, age(b)-age(a)))) })
	for i, path := range all {
		if i >= mostIndexes {
			_ = os.Remove(path) // the next run tries again
		}
	}
}
