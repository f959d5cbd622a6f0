//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Reasons for not applying a change to the workspace.
const (
	whyActedOn   = "other programs act on what is there"
	whySpecial   = "it is a socket, FIFO or device"
	whySetID     = "it would run as its owner"
	whyLeaves    = "it is a link that leads out of the workspace"
	whyGitRuns   = "git's settings make git run or read it"
	whyGitPart   = "of a repository only its history and index are applied"
	whyGitFile   = "it would make git use another repository"
	whyGitMade   = "it would make a repository out of a folder"
	whyGitNewer  = "somebody else used the repository meanwhile"
	whyHidden    = "a rule keeps commands from it"
	whyGitHidden = "it records that files are gone or changed which a rule hides from commands; stage the files that are meant by their names"
	whyGitGoesOn = "it runs commands when it goes on"
	whyGitModule = "it stages a submodule while commands work on the files themselves"
	whyGitNested = "it holds a repository that would make git run programs or read another one"
)

// judge decides on each change in a view. It leaves out unreadable changes.
type judge struct {
	*view
	runs []string // absolute paths that git runs or reads because of its settings

	repositories int // number decided so far
}

func (v *view) judge(changes []*overlay.Change) {
	elsewhere := ""
	if len(v.roots) > 1 {
		elsewhere = v.roots[1].Path
	}
	j := judge{view: v}
	j.runs = gitRuns(v.workspace, elsewhere, v.nested, v.command.Env).runs
	for i, top := range changes {
		if i > 0 || j.isRepository(top) == existing {
			newRepository(&j, top).part(top, "")
			continue
		}
		if j.isRepository(top) == fresh {
			leaveHeads(top)
		}
		j.below(top)
	}
}

// leaveHeads leaves out files turning an existing folder into a repository.
func leaveHeads(c *overlay.Change) {
	for _, child := range c.Children {
		if name := filepath.Base(child.Path); name == "HEAD" || name == "commondir" {
			leave(child, whyGitMade)
		}
	}
}

// leave leaves a change out; for an existing folder, the changes below it.
func leave(c *overlay.Change, why string) {
	if c.Kind != apply.Merged {
		c.SkipReason = why
		return
	}
	c.Upper.Mode = c.Lower.Mode
	for _, child := range c.Children {
		leave(child, why)
	}
}

// decide decides on a change in a work tree and everything below it.
func (j *judge) decide(c *overlay.Change) {
	why := j.doubts(c)
	if why != "" && j.command.ReviewChanges {
		c.AskReason, why = why, ""
	}
	if why == "" {
		why = j.refuses(c)
	}
	if why != "" {
		leave(c, why)
		return
	}
	switch name := strings.ToLower(filepath.Base(c.Path)); {
	case name == ".git":
		j.gitEntry(c)
		return
	case c.Kind == apply.Removed || !isFolder(c):
		return
	}
	switch j.isRepository(c) {
	case existing:
		newRepository(j, c).part(c, "")
		return
	case fresh:
		if c.Kind == apply.New {
			j.freshRepository(c)
		} else {
			leaveHeads(c)
			j.below(c)
		}
		return
	}
	j.below(c)
}

func (j *judge) below(c *overlay.Change) {
	for _, child := range c.Children {
		if child.SkipReason == "" {
			j.decide(child)
		}
	}
}

func isFolder(c *overlay.Change) bool { return c.Kind == apply.New || c.Kind == apply.Merged }

// goes reports whether a change removes or replaces an existing entry.
func goes(c *overlay.Change) bool { return c.Kind != apply.Merged && c.Lower.Exists() }

// doubts returns why a change needs the user's approval, or "".
func (j *judge) doubts(c *overlay.Change) string {
	switch {
	case actedOn(c):
		return whyActedOn
	case matchesAny(j.runs, j.Real(c), goes(c)):
		return whyGitRuns
	}
	return ""
}

// actedOn reports whether the change makes other programs run something (package delicate). A
// removal does not.
func actedOn(c *overlay.Change) bool {
	kind := delicate.File
	switch {
	case c.Kind == apply.Removed:
		return false
	case isFolder(c):
		kind = delicate.Folder
	case c.Kind == apply.Link:
		kind = delicate.Moved
	}
	_, found := delicate.In(c.Path, kind)
	return found
}

// refuses returns why a change is not applied, regardless of its children, or "".
func (j *judge) refuses(c *overlay.Change) string {
	switch {
	case matchesAny(j.hidden, j.Real(c), goes(c)):
		return whyHidden
	case c.Kind == apply.Special:
		return whySpecial
	case c.Kind == apply.File && c.Upper.SetID():
		return whySetID
	case c.Kind == apply.Link && !j.staysInside(c):
		return whyLeaves
	}
	if c.Kind == apply.Merged && c.Upper.Mode == c.Lower.Mode {
		return ""
	}
	return j.denied(c, goes(c))
}

// matchesAny reports whether path is one of places or inside one. If it goes away, it also counts
// if it contains one.
func matchesAny(places []string, path string, goes bool) bool {
	return slices.ContainsFunc(places, func(place string) bool { return isWithin(path, place) || goes && isWithin(place, path) })
}

// denied returns the rule against a change, or "". For a folder that goes away, it checks every
// entry.
func (j *judge) denied(c *overlay.Change, goes bool) (why string) {
	denied := j.sandbox.o.Denied
	if denied == nil {
		return ""
	}
	if why = denied(j.Real(c)); why != "" || !goes || !c.Lower.IsFolder() {
		return why
	}
	_ = filepath.WalkDir(j.CurrentPath(c), func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			why = "it cannot be read: " + err.Error()
		case why == "":
			why = denied(path)
		}
		if why != "" {
			return fs.SkipAll
		}
		return nil
	})
	return why
}

// systemFolders lists folders of programs and libraries. Links to them are allowed, because nobody
// writes through them.
func systemFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store", "/etc/alternatives", "/proc/self", "/dev/null"}
}

// staysInside reports whether a link leads into the workspace or to a system program, as in Python
// environments. It refuses ".." after a name, which may be a link that leads out.
func (j *judge) staysInside(c *overlay.Change) bool {
	return stays(j.roots[c.Root].Path, c.Path, c.Target)
}

// stays is staysInside for a link at path below top.
func stays(top, path, target string) bool {
	if filepath.IsAbs(target) {
		clean := filepath.Clean(target)
		if slices.ContainsFunc(systemFolders(), func(dir string) bool { return isWithin(clean, dir) }) {
			return true
		}
		rel, err := filepath.Rel(top, clean)
		return err == nil && filepath.IsLocal(rel) && clean == strings.TrimSuffix(target, "/")
	}
	up, named := 0, false
	for step := range strings.SplitSeq(target, "/") {
		switch {
		case step == ".." && named:
			return false
		case step == "..":
			up++
		case step != "" && step != ".":
			named = true
		}
	}
	return up <= strings.Count(path, "/")
}

type kind int

const (
	plain    kind = iota
	existing      // was a repository before
	fresh         // has become a repository
)

// isRepository classifies a folder. Git takes any folder with the right entries for a repository.
func (j *judge) isRepository(c *overlay.Change) kind {
	now := seccomptrace.LooksLikeRepository(func(name string) bool {
		for _, child := range c.Children {
			if filepath.Base(child.Path) == name {
				return child.Kind != apply.Removed
			}
		}
		if c.Kind == apply.New {
			return false
		}
		_, there := lookAt(filepath.Join(j.Real(c), name))
		return there
	})
	if c.Kind == apply.Merged && seccomptrace.LooksLikeRepository(func(name string) bool {
		_, there := lookAt(filepath.Join(j.Real(c), name))
		return there
	}) {
		return existing
	}
	if now {
		return fresh
	}
	return plain
}

func (j *judge) gitEntry(c *overlay.Change) {
	switch {
	case c.Kind == apply.Removed && c.Path == ".git" && c.Root == 0:
		c.SkipReason = whyGitPart
	case c.Kind == apply.Removed:
	case c.Kind == apply.New && !c.Lower.Exists():
		j.freshRepository(c)
	case c.Kind == apply.Merged:
		newRepository(j, c).part(c, "")
	case c.Kind == apply.File && !c.Lower.Exists() && j.pointsInside(c):
	default:
		c.SkipReason = whyGitFile
	}
}

// pointsInside reports whether a .git file leads to a submodule's or work tree's folder inside the
// workspace's repository. That folder is judged itself.
func (j *judge) pointsInside(c *overlay.Change) bool {
	data, err := os.ReadFile(j.Place(c))
	if err != nil || len(data) > maxPointer {
		return false
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok || strings.ContainsAny(dir, "\x00\n") {
		return false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(j.Real(c)), dir)
	}
	dir = filepath.Clean(dir)
	for i, root := range j.roots {
		own := root.Path
		if i == 0 {
			own = filepath.Join(own, ".git")
		}
		if ofRepository(dir, own) {
			return true
		}
	}
	return false
}

// freshRepository decides on a repository made by the command, as a whole.
func (j *judge) freshRepository(c *overlay.Change) {
	if why := j.dangerous(c, false); why != "" {
		c.SkipReason = whyGitNested + ": " + why
	}
}

// dangerous returns how a new repository makes git run a program or read another repository, or "".
func (j *judge) dangerous(c *overlay.Change, inner bool) string {
	if found := dangers(j.Place(c), j.Folder(c.Root), inner); len(found) > 0 {
		return found[0]
	}
	if !plainTree(c) {
		return "something in it is not a plain file"
	}
	return ""
}
