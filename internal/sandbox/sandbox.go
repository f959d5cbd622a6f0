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

// A Sandbox belongs to one workspace. It is safe for concurrent use.
type Sandbox struct {
	o         Options
	workspace folder
	machine   sync.Once
	host      host
	notes     notes
	first     func() survey // the workspace before the first command
	servers   servers
	viewFails atomic.Bool           // the kernel supports no views here
	stage     atomic.Pointer[Stage] // the mounted stage, or nil
	alive     atomic.Int32          // commands on the live tree
	denies    denies
	removing  sync.WaitGroup // views being deleted
	caching   sync.Once      // takes the private caches into use
	cached    *os.File       // held while the caches are in use
	layers    layers         // over the user's caches
	over      chan struct{}  // closed by Close
	closing   sync.Once

	mu     sync.Mutex
	report *Report // nil if not known yet
}

// New makes a sandbox. It returns at once: the machine is examined with the first command.
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
		c := caches{root: filepath.Dir(dir), workspaceName: filepath.Base(dir), now: time.Now}
		s.cached = c.begin()
		go c.trim() // if the program ends early, the next start continues
	})
}

// Close releases the sandbox's resources.
func (s *Sandbox) Close() {
	s.caching.Do(func() {}) // from now on useCaches does nothing
	s.layers.close()
	s.closing.Do(func() { close(s.over) })
	if s.cached != nil {
		defer s.cached.Close()
	}
	s.removing.Wait()
}

// by puts a command into a sandbox of the given means. It releases everything, last taken first, on
// an error and after the command.
func (s *Sandbox) by(means Technique, c proc.Command) (_ proc.Confinement, err error) {
	started := time.Now().Add(-clockStep)
	build, ok := builders()[means]
	if !ok {
		return proc.Confinement{}, errors.New("this system has no sandbox of the kind " + string(means))
	}
	p, err := s.plan(c, means)
	if err == nil {
		err = p.weaker(c, means)
	}
	if err != nil {
		return proc.Confinement{}, err
	}
	if means == Seatbelt {
		p.missing = nil // Landlock's rules also cover missing paths
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
		return proc.Confinement{}, err
	}
	if means == Namespaces && !p.command.KeepChanges {
		s.layers.show(&p, s)
	}
	if p.view, err = s.openView(&p, overlay.Make); err != nil {
		return proc.Confinement{}, err
	}
	if p.view != nil {
		taken = append(taken, p.view.giveUp)
	}
	began := running{s.workspace.path, started, p.nested, p.missing}
	var forget func() // nil if there is no record
	if p.live != "" && means != Landlock {
		if forget, err = s.notes.begin(began); err != nil {
			return proc.Confinement{}, fmt.Errorf("cannot note that it works on the files themselves: %w", err)
		}
		taken = append(taken, forget)
	}
	walls, err := build(p)
	if err != nil {
		return proc.Confinement{}, err
	}
	taken = append(taken, func() {
		if walls.Done != nil {
			walls.Done()
		}
	})
	if err := s.o.Network.through(&walls, c); err != nil {
		return proc.Confinement{}, err
	}
	if err := p.local(&walls); err != nil {
		return proc.Confinement{}, err
	}
	walls.Failed, walls.UsesView = s.failed, p.live == ""
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
		if forget != nil { // now that the repositories named by new work trees' .git files exist
			found.Messages = append(found.Messages, began.planted(p.holds, false)...)
		}
		if p.live != "" {
			s.alive.Add(-1)
		}
		if done != nil {
			own := done()
			own.Messages, own.Notes = append(own.Messages, found.Messages...), append(own.Notes, found.Notes...)
			own.Pending, own.Failed = found.Pending, found.Failed
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

// folder identifies a folder even if another one takes its path.
type folder struct {
	path     string
	dev, ino uint64
	err      error
}

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
