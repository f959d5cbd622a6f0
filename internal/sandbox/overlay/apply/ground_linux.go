package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"adze/internal/sandbox/overlay/entry"
)

// Locations holds the locations for applying changes.
type Locations struct {
	Dir      string // this view's: one folder for each root, and the journal
	Home     string
	Roots    []Root
	Tops     []int    // root descriptors
	ViewTime [2]int64 // file system time when the view was made
	homeDev  uint64   // the view's file system
	Leases   map[entry.ID]*os.File
	begun    begun
}

// File names in a view's folder.
const (
	LockName    = "lock"
	JournalName = "journal"
	AppliedName = "applied" // the journal after applying
	KeptName    = "kept"    // beside the views
)

// OpenRoots opens the roots. It returns an error if one was replaced.
func (g *Locations) OpenRoots() error {
	for _, r := range g.Roots {
		fd, err := unix.Open(r.Path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return &fs.PathError{Op: "open", Path: r.Path, Err: err}
		}
		g.Tops = append(g.Tops, fd)
		st, err := entry.StatAt(fd, "")
		if err != nil {
			return err
		}
		if r.Ino != 0 && (st.Dev != r.Dev || st.Ino != r.Ino) {
			return fmt.Errorf("%s was replaced", r.Path)
		}
	}
	return nil
}

// Folder returns the parent of a root's upper and work folder.
func (g *Locations) Folder(root int) string { return filepath.Join(g.Dir, fmt.Sprint(root)) }

// UpperFolder returns the folder where the kernel stores a root's changes.
func (g *Locations) UpperFolder(root int) string { return filepath.Join(g.Folder(root), "upper") }

// OpenBelow opens a folder below a root.
func (g *Locations) OpenBelow(root int, path string) (int, error) {
	return entry.OpenBeneath(g.Tops[root], path)
}

// Newer reports whether an entry changed since the view was made.
func (g *Locations) Newer(s entry.Stat) bool { return s.Exists() && entry.Later(s.Changed, g.ViewTime) }

// Look returns an entry below a root.
func (g *Locations) Look(root int, path string) (entry.Stat, error) {
	at, err := g.OpenBelow(root, filepath.Dir(path))
	if err != nil {
		return entry.Stat{}, err
	}
	defer unix.Close(at)
	return entry.StatAt(at, filepath.Base(path))
}

// Keep moves the command's version to the folder of kept changes and returns its new path.
func (g *Locations) Keep(root int, path string) string {
	to := filepath.Join(g.Home, KeptName, filepath.Base(g.Dir), path)
	if root > 0 {
		to = filepath.Join(g.Home, KeptName, filepath.Base(g.Dir), fmt.Sprint("root-", root), path)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return ""
	}
	from := filepath.Join(g.UpperFolder(root), path)
	if err := entry.Rename(from, to); err != nil {
		if os.Chmod(from, 0o700) != nil || entry.Rename(from, to) != nil {
			return ""
		}
	}
	return to
}

// Lease opens a file for writing and takes a lease on it.
func (g *Locations) Lease(root int, path string) (*os.File, error) {
	at, err := g.OpenBelow(root, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unix.Close(at)
	return entry.TakeLease(at, filepath.Base(path))
}

// FreeLeases releases all leases.
func (g *Locations) FreeLeases() {
	for _, f := range g.Leases {
		_ = f.Close()
	}
	g.Leases = nil
}

// GoOn does the steps left by a killed process.
func (g *Locations) GoOn(steps []Step) (Outcome, error) {
	progress, err := os.ReadFile(filepath.Join(g.Dir, progressName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, err
	}
	done := min(len(progress), len(steps))
	defer g.FreeLeases()
	out, err := g.Run(steps, done)
	for i, mark := range progress[:done] {
		if mark == '+' {
			out.Applied = append(out.Applied, filepath.Join(g.Roots[steps[i].Root].Path, steps[i].Path))
		}
	}
	return out, err
}
