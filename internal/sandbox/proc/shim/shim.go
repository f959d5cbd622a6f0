//go:build unix

package shim

import (
	"os"
	"runtime"
	"sync"
	"syscall"

	"adze/internal/sandbox/proc/shim/namespace"
	"adze/internal/sandbox/proc/shim/seccomptrace"
	"adze/internal/sandbox/proc/shim/selftest"
)

// Descriptors of the shim besides the command's own 0, 1 and 2.
const (
	lifelineFD = 3 // read: the spec, then nothing until it closes
	statusFD   = 4 // write: lines of wire.go
)

// exitUsage is the exit code of a shim that somebody started by hand.
const exitUsage = 2

// init takes the process over before main, because Go initialises packages in the order of their
// import paths as soon as their imports are ready: "adze/…" with few imports comes before nearly
// every dependency of adze. Measured on the whole set of dependencies: 1.6 ms for each command
// instead of 3.0 ms, at 1.3 ms for an empty Go program. It also makes it impossible to link this
// package and to forget the call, which would let a program start itself without end.
func init() {
	if exit, ours := Main(os.Args); ours {
		os.Exit(exit)
	}
	if exit, ours := selftest.Main(os.Args); ours {
		os.Exit(exit)
	}
	if exit, ours := namespace.Hold(os.Args); ours {
		os.Exit(exit)
	}
}

// Main runs the shim when args ask for one and reports whether they did, and the exit code then.
func Main(args []string) (exit int, ours bool) {
	if len(args) < 2 || args[1] != Word {
		return 0, false
	}
	syscall.CloseOnExec(lifelineFD)
	syscall.CloseOnExec(statusFD)
	spec, err := readSpec(lifelineFD)
	if err != nil {
		os.Stderr.WriteString("adze: " + Word + ": error: this argument is for adze itself\n")
		return exitUsage, true
	}
	deafen()
	s := &supervisor{gone: make(chan struct{})}
	return s.run(spec), true
}

// supervisor is the state of one shim. The goroutine in run starts the command and reaps; watch,
// and a sweep if there has to be one, run beside it. There are no channels between them on the way
// of a command that simply exits: this goroutine is bound to its thread until the program's main
// runs, so each wait for another one would cost two thread switches.
type supervisor struct {
	cmd  int                   // process id of the command, leader of its session
	seen *seccomptrace.Witness // that answers its calls; if nil, there is none
	gone chan struct{}         // closed when no child is left

	left     bool // the command left something behind that was to be ended
	sweeping sync.Once
	report   sync.Once
	mu       sync.Mutex
	ended    map[int]bool // processes other than the command that a sweep signalled
}

// run starts the command, has its lifeline watched, waits until nothing is left below this process,
// and reports. It returns the exit code of this process.
func (s *supervisor) run(spec Spec) (exit int) {
	adoptOrphans()
	if !spec.Box.Empty() {
		say(begunLine())
	}
	if err := s.start(spec); err != nil {
		say(failLine(err))
		return 1
	}
	say(startLine(s.cmd))
	go s.watch()
	s.reap(spec.Linger)
	endUnadopted(s.cmd)
	close(s.gone)
	s.finish(0)
	return 0
}

// start builds the box, starts the command in a session of its own and lets go of its standard
// streams, so that the readers see their end when the last process of the command is gone.
func (s *supervisor) start(spec Spec) error {
	closeOthersOnExec(statusFD + 1)
	if err := spec.Box.Build(); err != nil {
		return err
	}
	var err error
	if spec.Box.Empty() {
		s.cmd, err = spec.fork()
	} else {
		s.cmd, s.seen, err = spec.forkConfined()
	}
	if err != nil {
		return err
	}
	dropStreams()
	if spec.Box.Memory > 0 || spec.Box.Processes > 0 {
		go s.bound(spec.Box.Memory, spec.Box.Processes)
	}
	return nil
}

func (spec Spec) fork() (int, error) {
	return syscall.ForkExec(spec.Path, spec.Argv, &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   spec.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// forkConfined starts the command from a thread that has given up all rights, and ends that thread:
// what a thread gives up, the others keep (seccomp(2), landlock(7)).
func (spec Spec) forkConfined() (pid int, seen *seccomptrace.Witness, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if seen, err = spec.Box.Confine(); err == nil {
			pid, err = spec.fork()
		}
	}()
	<-done
	return pid, seen, err
}

// reap collects every child, adopted ones included, until none is left. When the command itself
// ends it says so at once; what it leaves behind is swept unless it may linger.
func (s *supervisor) reap(linger bool) {
	options := 0
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return // no child: nothing is left
		case pid == 0: // some are left, and none has ended yet
			options = 0
			if !linger && !s.left {
				s.left = true
				go s.sweep()
			}
		case pid == s.cmd:
			say(exitLine(status))
			options = syscall.WNOHANG
		}
	}
}

// finish writes the last line, once.
func (s *supervisor) finish(survivors int) {
	s.report.Do(func() {
		s.mu.Lock()
		ended := len(s.ended)
		s.mu.Unlock()
		say(goneLine(ended, survivors))
	})
}

// watch sweeps when the lifeline closes, and has the witness begin when it is needed. adze never
// writes after the spec.
func (s *supervisor) watch() {
	s.seen.Await(lifelineFD)
	var b [1]byte
	for {
		n, err := syscall.Read(lifelineFD, b[:])
		if err != syscall.EINTR && n <= 0 {
			s.seen.Begin() // while they end they ask
			s.sweep()
			return
		}
	}
}

// say writes one line of the status pipe. A failure means that adze is gone; the lifeline tells.
func say(line string) {
	_, _ = syscall.Write(statusFD, []byte(line))
}
