//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adze/internal/sandbox/overlay"
	"adze/internal/sandbox/proc"
)

// Sandbox is one workspace's. Safe for concurrent use.
type Sandbox struct {
	o         Options
	workspace folder
	machine   sync.Once
	host      host
	notes     notes
	first     func() survey // what was in the workspace before the first command
	servers   servers
	viewFails atomic.Bool           // the kernel makes no views here
	stage     atomic.Pointer[Stage] // that is mounted; if nil, none
	alive     atomic.Int32          // commands that work on the live tree
	denies    denies
	removing  sync.WaitGroup // views that are over
	caching   sync.Once      // the private caches are in use
	cached    *os.File       // while it is open
	layers    layers         // of the user's caches
	over      chan struct{}  // closed when this is
	closing   sync.Once

	mu     sync.Mutex
	report *Report // of the self-test; if nil, not known yet
}

// New makes a sandbox. It does nothing that takes time: what it needs of the machine is found out
// with the first command.
func New(o Options) *Sandbox {
	return &Sandbox{over: make(chan struct{}), o: o, workspace: pin(o.Workspace), notes: notes{dir: runningDir(o.State)},
		first: sync.OnceValue(func() survey { return lookThrough(o.Workspace, someFolders) })}
}

// useCaches takes the private caches into use and removes old ones, once.
func (s *Sandbox) useCaches() {
	s.caching.Do(func() {
		if s.o.State == "" {
			return
		}
		dir := cacheDir(s.o.State, s.workspace.path)
		c := caches{root: filepath.Dir(dir), own: filepath.Base(dir), now: time.Now}
		s.cached = c.begin()
		go c.trim() // the next start goes on where the end of the program cuts it off
	})
}

// Close ends what the sandbox keeps open.
func (s *Sandbox) Close() {
	s.caching.Do(func() {}) // it begins no more
	s.layers.close()
	s.closing.Do(func() { close(s.over) })
	if s.cached != nil {
		defer s.cached.Close()
	}
	s.removing.Wait()
}

// by puts a command into a sandbox of the given means. What it has taken for it is given back in
// turn where something fails, and when the command has ended.
func (s *Sandbox) by(means Means, c proc.Command) (_ proc.Walls, err error) {
	started := time.Now().Add(-clockStep)
	build, ok := builders()[means]
	if !ok {
		return proc.Walls{}, errors.New("this system has no sandbox of the kind " + string(means))
	}
	p, err := s.plan(c, means)
	if err == nil {
		err = p.weaker(c, means)
	}
	if err != nil {
		return proc.Walls{}, err
	}
	if means == Seatbelt {
		p.missing = nil // its rules hold for what is not there, too
	}
	var taken []func()
	defer func() {
		for _, giveBack := range slices.Backward(taken) {
			if err != nil {
				giveBack()
			}
		}
	}()
	taken = append(taken, p.letGo)
	if err := p.onStage(s.stage.Load(), means); err != nil {
		return proc.Walls{}, err
	}
	if means == Namespaces && !p.command.KeepChanges {
		s.layers.show(&p, s)
	}
	if p.view, err = s.openView(&p, overlay.Make); err != nil {
		return proc.Walls{}, err
	}
	if p.view != nil {
		taken = append(taken, p.view.giveUp)
	}
	began := running{s.workspace.path, started, p.nested, p.missing}
	var forget func() // if nil, nothing is noted
	if p.live != "" && means != Landlock {
		if forget, err = s.notes.begin(began); err != nil {
			return proc.Walls{}, fmt.Errorf("cannot note that it works on the files themselves: %w", err)
		}
		taken = append(taken, forget)
	}
	walls, err := build(p)
	if err != nil {
		return proc.Walls{}, err
	}
	taken = append(taken, func() {
		if walls.Done != nil {
			walls.Done()
		}
	})
	if err := s.o.Network.through(&walls, c); err != nil {
		return proc.Walls{}, err
	}
	if err := p.local(&walls); err != nil {
		return proc.Walls{}, err
	}
	walls.Failed, walls.Apart = s.failed, p.live == ""
	if p.live != "" {
		s.alive.Add(1)
	}
	walls.Name = p.name(Full, means)
	walls.Explain = func(output string) ([]proc.Denial, []string) { return p.refused(output), p.missed(output) }
	done := walls.Done
	walls.Done = func() (found proc.Findings) {
		p.letGo()
		if p.view != nil {
			found = p.view.end()
		}
		if forget != nil { // now that the repositories are there to which .git files of new work trees lead
			found.Told = append(found.Told, began.planted(p.holds, false)...)
		}
		if p.live != "" {
			s.alive.Add(-1)
		}
		if done != nil {
			own := done()
			own.Told, own.Notes = append(own.Told, found.Told...), append(own.Notes, found.Notes...)
			own.Aside, own.Failed = found.Aside, found.Failed
			for _, b := range found.Denied {
				own.Deny(b)
			}
			found = own
		}
		if forget != nil {
			forget()
		}
		return found
	}
	return walls, nil
}

// folder is one that must stay the same.
type folder struct {
	path     string
	dev, ino uint64
	err      error
}

// pin remembers a folder as it is now.
func pin(path string) folder {
	f := folder{path: path}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		f.err = err
	case !info.IsDir():
		f.err = errors.New(path + " is not a folder")
	default:
		f.dev, f.ino = identity(info)
	}
	return f
}
