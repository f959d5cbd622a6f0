//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// survey is the result of a walk through a workspace.
type survey struct {
	repositories  []string // paths of .git entries and bare repositories, without the workspace's own
	closed        []string // unreadable folders
	links         []string
	executedPaths []string // paths by which other programs run something
	foreign       bool     // a folder belongs to another user or group
}

// someFolders limits a walk if it may be partial.
const someFolders = 200_000

// lookThrough walks through a workspace. If most is not 0, it reads at most that many folders.
func lookThrough(root string, most int) (out survey) {
	queue := []string{root}
	for n := 0; len(queue) > 0 && (most == 0 || n < most); n++ {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		var st syscall.Stat_t
		if syscall.Lstat(dir, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
			continue
		}
		out.foreign = out.foreign || strange(st.Uid, st.Gid)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			out.closed = append(out.closed, dir)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
		}
		if dir != root && seccomptrace.LooksLikeRepository(has) {
			out.repositories = append(out.repositories, dir)
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Name() == ".git" && dir != root:
				out.repositories = append(out.repositories, path)
			case e.Name() == ".git":
			case e.Type() == fs.ModeDir:
				queue = append(queue, path)
			case e.Type() == fs.ModeSymlink:
				out.links = append(out.links, path)
			}
			if e.Name() != ".git" && actsOn(root, path, e) {
				out.executedPaths = append(out.executedPaths, path)
			}
		}
	}
	slices.Sort(out.repositories)
	slices.Sort(out.executedPaths)
	return out
}

// actsOn reports whether other programs run something because of an entry. An empty folder does not
// count.
func actsOn(root, path string, e fs.DirEntry) bool {
	kind := delicate.File
	switch e.Type() {
	case fs.ModeDir:
		kind = delicate.Folder
	case fs.ModeSymlink:
		kind = delicate.Moved
	}
	if kind != delicate.Moved && !delicate.Ends(e.Name()) {
		return false
	}
	rel, err := filepath.Rel(root, path)
	if _, found := delicate.In(rel, kind); err != nil || !found {
		return false
	}
	below, err := os.ReadDir(path)
	return kind != delicate.Folder || err != nil || len(below) > 0
}

// planted reports files left by a command on the live tree that other programs act on. It puts
// aside a new repository that would make git run something, but only reports it if stays: others
// may have made it since. Places that the command could not change do not count.
func (r *running) planted(holds func(path string) bool, stays bool) (told []string) {
	now := lookThrough(r.Workspace, 0)
	for _, at := range now.repositories {
		if slices.Contains(r.Repositories, at) || holds(at) {
			continue
		}
		if found := dangers(at, r.Workspace, false); len(found) > 0 {
			told = append(told, fmt.Sprintf("%s would make git run programs or read another repository (%s)%s", legibleIn(r.Workspace, at), strings.Join(found, ", "), putAside(at, stays)))
		}
	}
	for _, dir := range now.closed {
		if !holds(dir) {
			told = append(told, legible(dir)+" (it cannot be looked into)")
		}
	}
	return append(told, r.odd(now, holds)...)
}

// odd reports new links that lead out of the workspace, and files that editors and assistants act
// on.
func (r *running) odd(now survey, holds func(path string) bool) []string {
	var out apply.Outcome
	fresh := func(path string) bool {
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || holds(path) {
			return false
		}
		return time.Unix(st.Ctim.Unix()).After(r.Started)
	}
	for _, at := range now.links {
		if !fresh(at) {
			continue
		}
		target, _ := os.Readlink(at)
		if rel, _ := filepath.Rel(r.Workspace, at); !stays(r.Workspace, rel, target) {
			out.Unapplied = append(out.Unapplied, apply.Unapplied{Path: at, Reason: whyLeaves})
		}
	}
	for _, at := range now.executedPaths {
		_ = filepath.WalkDir(at, func(path string, e fs.DirEntry, err error) error {
			if (err != nil || !e.IsDir()) && fresh(path) {
				out.Unapplied = append(out.Unapplied, apply.Unapplied{Path: path, Reason: whyActedOn})
			}
			return nil
		})
	}
	slices.SortFunc(out.Unapplied, func(a, b apply.Unapplied) int { return strings.Compare(a.Path, b.Path) })
	out.Unapplied = slices.Compact(out.Unapplied)
	told := tell(out)
	for i := range told {
		told[i] += "; it stays"
	}
	return told
}

// asideSuffix is appended to the names of entries put aside.
const asideSuffix = ".held-by-adze"

// putAside renames a repository, or a bare one's HEAD, to hide it from git. It returns the outcome
// as text.
func putAside(at string, stays bool) string {
	if stays {
		return "; it stays"
	}
	if filepath.Base(at) != ".git" {
		at = filepath.Join(at, "HEAD")
	}
	to := at + asideSuffix
	for n := 2; ; n++ {
		if _, there := lookAt(to); !there {
			break
		}
		to = fmt.Sprint(at, asideSuffix, "-", n)
	}
	if err := os.Rename(at, to); err != nil {
		return fmt.Sprintf(", and could not be put aside: %v", err)
	}
	return "; it is now " + filepath.Base(to)
}
