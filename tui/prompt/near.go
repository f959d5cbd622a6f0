package prompt

import (
	"slices"
	"strings"

	"adze/session"
)

// maxTouched bounds the files of the session that are remembered for completion.
const maxTouched = 50

// touch remembers what a call read or changed, newest first: that is what a user names next.
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

// near are the grades of paths that stand near to the work: what was touched in the session, what
// the program said was changed lately, then what lies in a folder with one of those.
type near struct {
	rank    map[string]int // from 1, the nearest
	folders map[string]bool
}

// nearFolder is the bonus of a neighbour: within a grade of a fit it outdoes some length.
const nearFolder = 1_500

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

// raised is the score of a path that fits, within the grade of its fit: of near ones the nearest
// has most, whatever its length.
func (n near) raised(path string, score int) int {
	if r := n.rank[path]; r > 0 {
		return score/fitLetters*fitLetters + fitLetters - r
	}
	if f := folderOf(path); f != "" && n.folders[f] {
		return score + nearFolder
	}
	return score
}

// folderOf is the folder of a path with its slash; if empty, the workspace.
func folderOf(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
}
