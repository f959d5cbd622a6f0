package prompt

import (
	"slices"
	"strings"

	"adze/session"
)

// maxTouched limits the session's files remembered for completion.
const maxTouched = 50

// touch records files that a call has read or changed, newest first: users often name them next.
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

// pathRanking ranks paths close to the current work: files touched in the session, recently changed
// files from the program, then their folders.
type pathRanking struct {
	rank    map[string]int // from 1, the nearest
	folders map[string]bool
}

// nearFolder is the bonus for a file in the same folder; within a grade it outweighs some length.
const nearFolder = 1_500

func newNear(paths ...string) pathRanking {
	n := pathRanking{map[string]int{}, map[string]bool{}}
	for _, p := range paths {
		if n.rank[p] == 0 {
			n.rank[p] = len(n.rank) + 1
			n.folders[folderOf(p)] = true
		}
	}
	return n
}

// raised adds the bonus for a near path within its grade: the nearest path wins, whatever its
// length.
func (n pathRanking) raised(path string, score int) int {
	if r := n.rank[path]; r > 0 {
		return score/fitLetters*fitLetters + fitLetters - r
	}
	if f := folderOf(path); f != "" && n.folders[f] {
		return score + nearFolder
	}
	return score
}

// folderOf returns a path's folder with a trailing slash, or "" for the workspace.
func folderOf(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
}
