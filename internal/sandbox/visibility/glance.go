//go:build unix

package visibility

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// MaxAge bounds how long anything is believed.
	MaxAge = 30 * time.Second
	// ClockStep is more than the step of any file system's clock: a folder that had changed less
	// than this before it was looked at may have changed again without a trace.
	ClockStep = 50 * time.Millisecond

	maxLinks = 255 // on the way of one path, as in package filepath
)

// Mark tells a state of a file or folder from all others of the same path.
type Mark struct {
	Dev, Ino uint64
	Changed  syscall.Timespec
	Mode     uint32 // as in stat(2)
	Err      error  // nothing can be said of it; the other fields are zero
}

// Is reports the type of a file: one of syscall.S_IFDIR and its like.
func (m Mark) Is(kind uint32) bool { return m.Err == nil && m.Mode&syscall.S_IFMT == kind }

// Marks are those of some paths.
type Marks map[string]Mark

// Glance is one look at things. It is good for one command, and for one goroutine.
type Glance struct {
	now   time.Time
	marks Marks
	real  map[string]string          // if empty, it leads nowhere
	names map[string]map[string]bool // if nil, it is no folder that can be read
}

// New begins a glance.
func New() *Glance {
	return &Glance{now: time.Now(), marks: Marks{}, real: map[string]string{}, names: map[string]map[string]bool{}}
}

// Mark looks at a path itself, also where it is a link.
func (g *Glance) Mark(path string) Mark {
	if m, ok := g.marks[path]; ok {
		return m
	}
	var st syscall.Stat_t
	m := Mark{}
	if err := syscall.Lstat(path, &st); err != nil {
		m.Err = err
	} else {
		m = Mark{Dev: uint64(st.Dev), Ino: uint64(st.Ino), Changed: ChangeTime(&st), Mode: uint32(st.Mode)}
	}
	g.marks[path] = m
	return m
}

// Same reports that what marks were taken of, at a time, is still as it was.
func (g *Glance) Same(marks Marks, at time.Time) bool {
	if g.now.Sub(at) > MaxAge {
		return false
	}
	for path, was := range marks {
		if was.Err != nil || at.Sub(time.Unix(was.Changed.Unix())) <= ClockStep || g.Mark(path) != was {
			return false
		}
	}
	return true
}

// Now is when the glance began.
func (g *Glance) Now() time.Time { return g.now }

// Real is a path free of links, as filepath.EvalSymlinks has it; if false, nothing is there, or it
// cannot be told. The path is absolute.
func (g *Glance) Real(path string) (string, bool) {
	at, known := g.real[path]
	if !known {
		at = g.follow(path)
		g.real[path] = at
	}
	return at, at != ""
}

// Names are those in a folder; if false, there is none that can be read.
func (g *Glance) Names(dir string) (map[string]bool, bool) {
	names, known := g.names[dir]
	if !known {
		names = read(dir)
		g.names[dir] = names
	}
	return names, names != nil
}

// follow goes a path step by step.
func (g *Glance) follow(path string) string {
	at, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := strings.TrimSuffix(at, "/") + "/" + name
		m := g.Mark(next)
		switch {
		case m.Err != nil:
			return ""
		case m.Is(syscall.S_IFDIR), !m.Is(syscall.S_IFLNK) && len(rest) == 0:
			at = next
			continue
		case !m.Is(syscall.S_IFLNK):
			return "" // a file on the way
		}
		to, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return ""
		}
		if to[0] == '/' {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at
}

// read lists a folder; nil where that cannot be.
func read(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}
