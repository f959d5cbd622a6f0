// Package sandbox decides what a command can reach, and puts it there through the shim that supervises it (internal/proc).
//
// Permissions decide what is attempted; a sandbox decides what is possible. Inside, the whole file tree is read only but
// for the workspace and a private /tmp; what holds secrets is empty; what would make other programs run something later
// (hooks and configuration of git, folders of editors) is read only even where it does not exist yet; there is no
// network but through a proxy that asks, no other process, no way to the kernel's keys, namespaces and mounts.
//
// Three means make that, and a self-test, not their names, says how good they are: namespaces of our own (ns), those
// that bubblewrap makes (bwrap; alone where it has to make the mounts too), or rules of the kernel for files (landlock),
// which can have no read-only place in a writable one and are never more than degraded. On macOS it is a profile (seatbelt).
//
// The one rule: a command runs in the sandbox that was reported, or not at all.
//
// Start reading at Sandbox and Cage, then plan.go (what a command may reach), level.go (how good it is), held.go (what is
// looked at when a command has ended), package sight (what is remembered of folders), barred.go (what it failed of because of the sandbox), and a file for each
// means. What carries it out is in internal/proc/shim/box.
//
// Known limits:
//   - Programs reach the network through variables that most of them read; those that do not (Java, ssh, most database
//     clients) reach nothing. What is sent to a host that was allowed is not looked at.
//   - The workspace's own sockets, and sockets of the host that are made after a command has started outside /run, /tmp and
//     the person's hidden folders, can be connected to.
//   - What a command was refused to read is not known as a reason why it failed, nor what it did not find because its /tmp is private.
//   - Memory that belongs to no process (memfd) is not counted.
//   - As root, all of /proc is read only: no program sets its oom_score_adj, say.
//   - Editors' folders are protected at the top of the workspace only.
//   - A repository that a command plants below the workspace, or one whose folder it renames and makes anew, is put aside
//     when the command has ended: until then the person's own programs may meet it.
package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"adze/internal/proc"
	"adze/internal/sandbox/sight"
)

// Options are what a sandbox is for. Folders are absolute.
type Options struct {
	Workspace string   // that commands may write
	Home      string   // of the person
	Own       []string // configuration and state of adze: no command may read them
	State     string   // where notes about levels and placeholders are kept
	Memory    uint64   // bytes for all processes of one command; 0: three quarters of the machine's
	Processes uint64   // of one command; 0: 4096
	Means     []Means  // to be tried, the best first; nil: those of this system
	Blind     bool     // what commands are refused is not looked at: see proc.Walls.Weigh
	Network   *Network // the way out for commands that may ask for one; nil: there is none
}

// ErrUnsuitable says that no sandbox can be put around a workspace.
var ErrUnsuitable = errors.New("no sandbox fits this workspace")

// Sandbox is one workspace's. Safe for concurrent use.
type Sandbox struct {
	o         Options
	workspace folder
	machine   sync.Once
	host      host
	held      *placeholders
	lookout   lookout
	rules     ruleset
	sight     sight.Sight
	codes     codes
	tmp       tmpFolders

	mu     sync.Mutex
	report *Report // of the self-test; nil: not known yet
}

// New makes a sandbox. It does nothing that takes time: what it needs of the machine is found out with the first command.
func New(o Options) *Sandbox {
	return &Sandbox{o: o, workspace: pin(o.Workspace), held: &placeholders{dir: heldDir(o.State)}}
}

// Of is the sandbox of a workspace for the person who runs this. The state folder is secret, as the others are.
func Of(workspace, state string, secret ...string) *Sandbox {
	home, _ := os.UserHomeDir() // without one there are no secrets of a home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return New(Options{Workspace: workspace, Home: home, State: state, Own: append(secret, state)})
}

// Through gives commands a way out. It is called before the first of them.
func (s *Sandbox) Through(n Network) *Sandbox {
	s.o.Network = &n
	return s
}

// Close removes what the sandbox left in the workspace.
func (s *Sandbox) Close() {
	s.held.close()
	s.tmp.close()
	s.rules.mu.Lock()
	defer s.rules.mu.Unlock()
	s.rules.close()
}

// Enclose puts a command into the sandbox by the means that the self-test chose: proc.Cage.
func (s *Sandbox) Enclose(ctx context.Context, c proc.Command) (proc.Walls, error) {
	report, err := s.Level(ctx)
	if err != nil {
		return proc.Walls{}, err
	}
	if report.Means == None {
		return proc.Walls{}, errors.New("there is no sandbox here: " + report.How)
	}
	walls, err := s.by(report.Means, c)
	walls.Name = string(report.Level) + " (" + string(report.Means) + ")"
	return walls, err
}

// by puts a command into a sandbox of the given means.
func (s *Sandbox) by(means Means, c proc.Command) (proc.Walls, error) {
	build, ok := builders()[means]
	if !ok {
		return proc.Walls{}, errors.New("this system has no sandbox of the kind " + string(means))
	}
	p, err := s.plan(c)
	if err != nil {
		return proc.Walls{}, err
	}
	if means == Seatbelt {
		p.missing = nil // its rules hold for what is not there, too
	}
	release, err := s.held.hold(p.missing, p.stands)
	if err != nil {
		return proc.Walls{}, err
	}
	walls, err := build(p)
	if err != nil {
		release()
		return proc.Walls{}, err
	}
	if err := s.o.Network.through(&walls, c); err != nil {
		if walls.Done != nil {
			walls.Done()
		}
		release()
		return proc.Walls{}, err
	}
	walls.Box.Code = s.codes.of(walls.Box)
	walls.Weigh = p.weigh
	done := walls.Done
	walls.Done = func() (found proc.Findings) {
		told := s.lookout.end()
		if done != nil {
			found = done()
		}
		found.Told = append(found.Told, told...)
		release()
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
