package undo

import "slices"

// Limits bound the contents of a state. Entries beyond them are left out and reported.
type Limits struct {
	File         int64 // bytes of a file that is not ignored
	Total        int64 // bytes of all files that are not ignored
	IgnoredFile  int64 // bytes of an ignored file
	IgnoredTotal int64 // bytes of all ignored files
	IgnoredDir   int   // entries of an ignored folder
	GitTotal     int64 // bytes stored of ".git" folders
	KeepFree     int64 // bytes of free disk space to preserve; default 1 GiB
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

const (
	ofFiles = iota
	ofGit
	ofIgnored
	limitCount
)

// of returns the limit that applies to a file.
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

// Reasons for leaving out an entry.
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

// settleSome and settleAll limit the bytes that are reread despite an unchanged stat, because they
// changed too recently for it to prove anything.
const (
	settleSome = 1 << 20
	settleAll  = 1 << 62
)

// rereading returns a file's share of that limit. Opening a file costs as much as reading 4 KiB, so
// hundreds of thousands of small files are not all reread.
func (e Entry) rereading() int64 { return e.Size + 4<<10 }

// settled is the age in nanoseconds from which an unchanged stat proves unchanged content: dirty
// pages of a memory map are written back, and write-protected again, after 30 + 5 seconds.
const settled = 40e9

// made reports whether an ignored folder of this name usually holds generated files.
func made(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv", "target", "dist", "build", ".next", "__pycache__", ".gradle"}, name)
}

// gitKept reports whether an entry of ".git" is stored: small ones that commands change.
func gitKept(name string) bool {
	return slices.Contains([]string{"HEAD", "index", "refs", "logs", "config", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG",
		"MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer", "COMMIT_EDITMSG",
		"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "shallow", "info", "description", "hooks", "modules", "worktrees"}, name)
}

// Names with a meaning to a walk.
const (
	gitName    = ".git"
	tempPrefix = ".adze-undo-"
)
