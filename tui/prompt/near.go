package prompt

import (
	"slices"
	"strings"

	"adze/session"
)

// maxTouched bounds the files of the session that are remembered for completion.
const maxTouched = 50

// touch remembers what a call read or changed, newest first: that is what a person names next.
func (u *Menu) touch(e session.ToolEnd) {
	for _, n := range e.Outcome.Record.Needs {
		if n.Permission != "read" && n.Permission != "write" {
			continue
		}
		path := strings.TrimPrefix(strings.TrimPrefix(n.Target, u.Root+"/"), "./")
		u.touched = slices.DeleteFunc(u.touched, func(t string) bool { return t == path })
		u.touched = slices.Insert(u.touched, 0, path)
		u.touched = u.touched[:min(len(u.touched), maxTouched)]
	}
}

// near are the grades of paths that stand near to the work: what was touched in the session, what the program said was
// changed lately, then what lies in a folder with one of those.
type near struct {
	rank    map[string]int // from 1, the nearest
	folders map[string]bool
}

// Bonuses of a near path; within a grade of a fit they outdo its length.
const (
	nearFile   = 4_000
	nearFolder = 1_500
)

func newNear(paths ...string) near {
	n := near{map[string]int{}, map[string]bool{}}
	for _, p := range paths {
		if n.rank[p] == 0 {
			n.rank[p] = len(n.rank) + 1
			n.folders[folderOf(p)] = true
		}
	}
	return n
}

// bonus is what a path gets beside its fit.
func (n near) bonus(path string) int {
	if len(n.rank) == 0 {
		return 0
	}
	if r := n.rank[path]; r > 0 {
		return nearFile - r
	}
	if f := folderOf(path); f != "" && n.folders[f] {
		return nearFolder
	}
	return 0
}

// folderOf is the folder of a path with its slash; empty: the workspace.
func folderOf(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
}
