//go:build unix

// Package visibility looks at folders for many commands, one after the other: where paths lead, and
// which names there are.
//
// What was seen holds as long as each folder that was looked into is the same and has not changed,
// by the time of change that the kernel alone sets. So a command costs one look at each folder, and
// not one at each of a hundred places in them.
//
// The one rule: what a Glance tells is how things are at the time of that glance.
//
// Start reading at Glance.
//
// Known limits: a change of a file system that another machine serves may be seen late, after
// MaxAge at the latest.
package visibility

import (
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// MaxAge bounds how long anything is believed.
	MaxAge = 30 * time.Second
	// ClockStep is more than the step of any file system's clock: a folder that had changed less
	// than this before it was looked at may have changed again without a trace.
	ClockStep = 50 * time.Millisecond

	maxKnown = 4096 // things that are remembered
	maxLinks = 255  // on the way of one path, as in package filepath
)

// Sight is what is remembered. The zero value is ready, and safe for concurrent use.
type Sight struct {
	mu    sync.Mutex
	known map[question]*answer
}

// question is what was asked of a path: where it leads, or which names are in it.
type question struct {
	path  string
	names bool
}

type answer struct {
	real    string          // if empty, it leads nowhere
	names   map[string]bool // if nil, it is no folder that can be read
	folders Marks
	at      time.Time
}

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

// Glance is one look at things: each path is looked at once. It is good for one command, and for
// one goroutine.
type Glance struct {
	sight *Sight
	now   time.Time
	marks Marks
}

// Glance begins one.
func (s *Sight) Glance() *Glance {
	return &Glance{sight: s, now: time.Now(), marks: Marks{}}
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
	a := g.ask(question{path, false}, func(a *answer) { a.real = g.follow(path, a.folders) })
	return a.real, a.real != ""
}

// Names are those in a folder; if false, there is none that can be read.
func (g *Glance) Names(dir string) (map[string]bool, bool) {
	a := g.ask(question{dir, true}, func(a *answer) {
		a.folders[dir] = g.Mark(dir)
		if !a.folders[dir].Is(syscall.S_IFDIR) {
			a.folders[dir] = Mark{Err: syscall.ELOOP} // what a link leads to is asked for each time
		}
		a.names = read(dir)
	})
	return a.names, a.names != nil
}

// ask answers from memory where that holds.
func (g *Glance) ask(q question, find func(*answer)) *answer {
	s := g.sight
	s.mu.Lock()
	a := s.known[q]
	s.mu.Unlock()
	if a != nil && g.Same(a.folders, a.at) {
		return a
	}
	a = &answer{folders: Marks{}, at: g.now}
	find(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= maxKnown {
		s.known = map[question]*answer{}
	}
	s.known[q] = a
	return a
}

// follow goes a path step by step, and notes each folder that it looks into, before it does.
func (g *Glance) follow(path string, noted Marks) string {
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
		noted[at] = g.Mark(at)
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
		to := target(next)
		if links++; to == "" || links > maxLinks {
			return ""
		}
		if to[0] == '/' {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at
}

// target is what a link says; if empty, it is none any more.
func target(link string) string {
	buf := make([]byte, 4096)
	n, err := syscall.Readlink(link, buf)
	if err != nil || n == len(buf) {
		return ""
	}
	return string(buf[:n])
}

// read lists a folder by the calls that this takes. Package os makes twice as many, for the case
// that it is a file that may block.
func read(dir string) map[string]bool {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	out, buf := map[string]bool{}, make([]byte, 4<<10)
	var names []string
	for {
		n, err := syscall.ReadDirent(fd, buf)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil
		case n <= 0:
			return out
		default:
			_, _, names = syscall.ParseDirent(buf[:n], -1, names[:0])
			for _, name := range names {
				out[name] = true
			}
		}
	}
}
