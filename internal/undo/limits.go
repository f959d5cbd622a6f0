package undo

import "slices"

// Limits bound what a state covers. What is beyond them is left out, and told.
type Limits struct {
	File         int64 // bytes of a file that is not ignored
	Total        int64 // bytes of all those
	IgnoredFile  int64 // bytes of an ignored file
	IgnoredTotal int64 // bytes of all those
	IgnoredDir   int   // entries of an ignored folder
	GitTotal     int64 // bytes of what is kept of ".git" folders
	KeepFree     int64 // bytes of the disk that the store never takes; default: 1 GiB
}

func (l Limits) orDefault() Limits {
	l.File = positive(l.File, 64<<20)
	l.Total = positive(l.Total, 2<<30)
	l.IgnoredFile = positive(l.IgnoredFile, 1<<20)
	l.IgnoredTotal = positive(l.IgnoredTotal, 64<<20)
	l.IgnoredDir = positive(l.IgnoredDir, 2000)
	l.GitTotal = positive(l.GitTotal, 16<<20)
	return l
}

// Limits that a file counts against.
const (
	ofFiles = iota
	ofGit
	ofIgnored
	limitCount
)

// of is the limit that a file counts against.
func of(git, ignored bool) int {
	switch {
	case git:
		return ofGit
	case ignored:
		return ofIgnored
	}
	return ofFiles
}

func positive[N int | int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// Reasons for which something is left out.
const (
	leftLarge      = "larger than undo keeps of one file"
	leftTotal      = "beyond what undo keeps of one workspace"
	leftIgnored    = "ignored by git, and large"
	leftMade       = "an ignored folder of things that programs make"
	leftSpecial    = "neither file, folder nor link"
	leftUnreadable = "cannot be read"
	leftUnstable   = "changed while it was read"
	leftSpace      = "too little space on the disk"
	leftForgotten  = "left out as you asked (adze undo --forget)"
	leftMoved      = "it was moved here from where undo does not look"
	leftStore      = "the store of undo"
	leftGit        = "git's own objects"
)

// settleSome and settleAll are how many bytes are read again although their stat is unchanged,
// because they changed so lately that it proves nothing.
const (
	settleSome = 1 << 20
	settleAll  = 1 << 62
)

// rereading is what a file takes of that: to open one costs as much as to read some of it, so that
// not all of a hundred thousand small files are read again.
func (e Entry) rereading() int64 { return e.Size + 4<<10 }

// settled is the age, in nanoseconds, from which an unchanged stat proves unchanged content: dirty
// pages of a memory map are written back, and their pages armed again, after 30 + 5 seconds.
const settled = 40e9

// made are names of folders that, when ignored, hold what programs make again.
func made(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv", "target", "dist", "build", ".next", "__pycache__", ".gradle"}, name)
}

// gitKept are the entries of a ".git" folder that change with each command and are small.
func gitKept(name string) bool {
	return slices.Contains([]string{"HEAD", "index", "refs", "logs", "config", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG",
		"MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer", "COMMIT_EDITMSG",
		"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "shallow", "info", "description", "hooks", "modules", "worktrees"}, name)
}

// Names that mean something to a walk.
const (
	gitName    = ".git"
	tempPrefix = ".adze-undo-"
)
