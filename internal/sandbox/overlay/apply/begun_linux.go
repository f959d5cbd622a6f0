package apply

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/entry"
)

// begun records the last step that began to write into a file. After a kill that file holds part of
// the command's version, and perhaps others' data.
type begun struct {
	file  *os.File
	step  int // begun by a killed process, or -1
	notes []Note
}

const begunName = "begun"

func (g *Locations) openBegun() error {
	f, err := os.OpenFile(filepath.Join(g.Dir, begunName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	g.begun = begun{file: f, step: -1}
	text, _ := io.ReadAll(f) // unreadable means that no step began
	if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		g.begun.step = n
	}
	return nil
}

func (x spot) begins() error {
	_, err := x.begun.file.WriteAt(fmt.Appendf(nil, "%10d\n", x.Number), 0)
	return err
}

// keepFound keeps a copy of a file's content after a kill, if it differs from the command's
// version.
func (x spot) keepFound(f, ours *os.File, size int64) error {
	if c, err := entry.CompareContent(ours, f, x.Upper.Size, size); err != nil || c == entry.Same {
		return err
	}
	to := filepath.Join(x.Home, KeptName, filepath.Base(x.Dir), fmt.Sprint("found-", x.Number), x.Path)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer copied.Close()
	if err := entry.CopyData(copied, f, 0, size); err != nil {
		return err
	}
	x.begun.notes = append(x.begun.notes, Note{filepath.Join(x.Roots[x.Root].Path, x.Path), NoteFound})
	return nil
}

// CheckSpace returns an error if the disks lack space for the steps' copies and growth.
func (g *Locations) CheckSpace(steps []Step) error {
	home, err := entry.StatAt(unix.AT_FDCWD, g.Dir)
	if err != nil {
		return err
	}
	needs := make([]int64, len(g.Roots))
	for _, s := range steps {
		switch {
		case s.Act == ActWrite || s.Act == ActExtend:
			needs[s.Root] += min(max(0, s.Upper.Size-s.Lower.Size), sizeOf(filepath.Join(g.UpperFolder(s.Root), s.Path)))
		case s.Act == ActPut:
			top, err := entry.StatAt(g.Tops[s.Root], "")
			if err != nil {
				return err
			}
			if top.Dev != home.Dev {
				needs[s.Root] += sizeOf(filepath.Join(g.UpperFolder(s.Root), s.Path))
			}
		}
	}
	for i, need := range needs {
		var st unix.Statfs_t
		if err := unix.Fstatfs(g.Tops[i], &st); err == nil && need > int64(st.Bavail)*st.Bsize { //nolint:unconvert // other sizes elsewhere
			return &fs.PathError{Op: "write", Path: g.Roots[i].Path, Err: unix.ENOSPC}
		}
	}
	return nil
}

func sizeOf(path string) (size int64) {
	_ = filepath.WalkDir(path, func(at string, _ fs.DirEntry, _ error) error {
		var st unix.Stat_t
		if unix.Lstat(at, &st) == nil {
			size += 512 * max(8, st.Blocks) // a name takes space too
		}
		return nil
	})
	return size
}
