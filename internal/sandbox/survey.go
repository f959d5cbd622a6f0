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

// survey is what a walk through a workspace found.
type survey struct {
	repositories []string // paths that end in .git, and folders that are bare ones; the workspace's own is not among them
	closed       []string // folders that cannot be looked into
	links        []string
	acted        []string // paths by which other programs run something
	foreign      bool     // a folder belongs to another user or group
}

// someFolders bounds a walk that need not be whole.
const someFolders = 200_000

// lookThrough walks through a workspace. With most, which is not 0, it looks into no more folders
// than that.
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
				out.acted = append(out.acted, path)
			}
		}
	}
	slices.Sort(out.repositories)
	slices.Sort(out.acted)
	return out
}

// actsOn reports an entry by which other programs run something. An empty folder makes none do so.
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

// planted tells what a command that worked on the live tree left there that other programs act on.
// A new repository that would make git run something is put aside. With stays it is only told:
// somebody else may have made it since. What the command could not change does not count.
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

// odd tells of new links that lead out of the workspace, and of what editors and assistants act on.
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
			out.Left = append(out.Left, apply.Left{Path: at, Why: whyLeaves})
		}
	}
	for _, at := range now.acted {
		_ = filepath.WalkDir(at, func(path string, e fs.DirEntry, err error) error {
			if (err != nil || !e.IsDir()) && fresh(path) {
				out.Left = append(out.Left, apply.Left{Path: path, Why: whyActedOn})
			}
			return nil
		})
	}
	slices.SortFunc(out.Left, func(a, b apply.Left) int { return strings.Compare(a.Path, b.Path) })
	out.Left = slices.Compact(out.Left)
	told := tell(out)
	for i := range told {
		told[i] += "; it stays"
	}
	return told
}

// asideSuffix is what the name of something that is put aside gets.
const asideSuffix = ".held-by-adze"

// putAside renames a repository, or the HEAD of a bare one, so that git does not know it. It says
// what came of that.
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
