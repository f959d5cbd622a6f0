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

// The shim's descriptors besides the command's 0, 1 and 2.
const (
	lifelineFD = 3 // read: the spec, then nothing until it closes
	statusFD   = 4 // write: lines of wire.go
)

// exitUsage is a shim's exit code when started by hand.
const exitUsage = 2

// init takes the process over before main. Go initializes packages in order of their import paths
// once their imports are ready, so "adze/..." with few imports comes before nearly every
// dependency: 1.6 ms per command instead of 3.0 ms, at 1.3 ms for an empty Go program. It also
// covers programs that link this package without a call, which could otherwise start themselves
// endlessly.
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

// Main runs the shim if args ask for one, and reports whether they did and the exit code.
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
// and sweep if needed, run beside it. A command that simply exits needs no channel between them:
// this goroutine is bound to its thread until the program's main runs, so each wait for another one
// would cost two thread switches.
type supervisor struct {
	cmd  int                    // process id of the command, its session's leader
	seen *seccomptrace.Listener // answers the command's calls, or nil
	gone chan struct{}          // closed when no child is left

	left     bool // the command left processes to be ended
	sweeping sync.Once
	report   sync.Once
	mu       sync.Mutex
	ended    map[int]bool // processes signalled by a sweep, except the command
}

// run starts the command, waits until no process is left below this one, and reports. It returns
// this process's exit code.
func (s *supervisor) run(spec Spec) (exit int) {
	adoptOrphans()
	if !spec.Box.Empty() {
		writeStatus(begunLine())
	}
	if err := s.start(spec); err != nil {
		writeStatus(failLine(err))
		return 1
	}
	writeStatus(startLine(s.cmd))
	go s.watch()
	s.reap(spec.Linger)
	endUnadopted(s.cmd)
	close(s.gone)
	s.finish(0)
	return 0
}

// start builds the box, starts the command in its own session and closes its standard streams here,
// so that readers see EOF after the command's last process.
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

// forkConfined starts the command from a thread without rights and ends that thread. Other threads
// keep their rights (seccomp(2), landlock(7)).
func (spec Spec) forkConfined() (pid int, seen *seccomptrace.Listener, err error) {
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

// reap collects all children, including adopted ones, until none is left. It reports the command's
// exit at once, and sweeps the remaining processes unless they may linger.
func (s *supervisor) reap(linger bool) {
	options := 0
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return // no children left
		case pid == 0: // children left, none ended yet
			options = 0
			if !linger && !s.left {
				s.left = true
				go s.sweep()
			}
		case pid == s.cmd:
			writeStatus(exitLine(status))
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
		writeStatus(goneLine(ended, survivors))
	})
}

// watch sweeps when the lifeline closes, and starts the witness when needed. adze never writes
// after the spec.
func (s *supervisor) watch() {
	s.seen.Await(lifelineFD)
	var b [1]byte
	for {
		n, err := syscall.Read(lifelineFD, b[:])
		if err != syscall.EINTR && n <= 0 {
			s.seen.Begin() // ending processes may still make calls
			s.sweep()
			return
		}
	}
}

// writeStatus writes a line to the status pipe. An error means that adze is gone, which the
// lifeline reports.
func writeStatus(line string) {
	_, _ = syscall.Write(statusFD, []byte(line))
}
