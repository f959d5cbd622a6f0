//go:build unix

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/selftest"
)

// testTime limits the self-test, with time for a busy machine.
const testTime = 20 * time.Second

// trial is one attempt; if must, even a degraded sandbox has to refuse it.
type trial struct {
	name, upon string
	must       bool
}

// test makes a home with a workspace and servers beside it, and tries forbidden actions from inside
// a sandbox.
func (s *Sandbox) test(ctx context.Context, m Technique) (selfTestResult, error) {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	site, err := newSite(s.o.State, s.o.Workspace)
	if err != nil {
		return selfTestResult{}, err
	}
	defer site.close()
	inner := New(Options{Workspace: site.work, Home: site.home, OwnPaths: []string{site.own}, State: site.own})
	defer inner.Close()
	trials := site.trials()
	argv := []string{itself(), selftest.Word, selftest.Fail} // a failing command gets explanations
	for _, t := range trials {
		argv = append(argv, t.name+"="+t.upon)
	}
	r, err := proc.Supervisor{Cage: cageFunc(func(c proc.Command) (proc.Confinement, error) { return inner.by(m, c) })}.Run(ctx, proc.Command{
		Argv: argv, Dir: site.work, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + site.home}, Tag: "sandbox test", Timeout: testTime,
		Separate: true, Tail: 64 << 10,
	})
	if err != nil {
		return selfTestResult{}, err
	}
	return assess(trials, r, site)
}

// itself returns this program's path for a start inside a sandbox, even if its file is hidden
// there.
func itself() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, _ := os.Executable() // without a path the test fails and reports it
	return path
}

// assess reads the output. A trial without a result counts as an escape.
func assess(trials []trial, r proc.Result, s *site) (selfTestResult, error) {
	held := map[string]bool{}
	lines := 0
	for line := range strings.Lines(r.Output.Head + r.Output.Tail) {
		if a, ok := selftest.ParseResult(strings.TrimSuffix(line, "\n")); ok {
			if lines < len(trials) && trials[lines].name == a.Name {
				held[strconv.Itoa(lines)] = a.Held
			}
			lines++
		}
	}
	if lines == 0 {
		why := strings.Join(strings.Fields(r.Errors.Head), " ")
		if why == "" && r.Err() != nil {
			why = r.Err().Error()
		}
		return selfTestResult{}, errors.New(cmp.Or(why, "the self-test gave no answer"))
	}
	var f selfTestResult
	for i, t := range trials {
		if !held[strconv.Itoa(i)] && t.reached() {
			f.escaped = append(f.escaped, t.name+" "+strings.TrimPrefix(t.upon, s.home+"/"))
			f.broken = f.broken || t.must
		}
	}
	if changed := s.changed(); len(changed) > 0 {
		f.escaped = append(f.escaped, changed...)
	}
	return f, nil
}

// reached checks from outside whether a trial's file exists: in a private /tmp anything can be
// created.
func (t trial) reached() bool {
	if t.name != "create" {
		return true
	}
	_, err := os.Lstat(t.upon)
	return err == nil
}

// trials lists the attempts, those of Linux alone last.
func (s *site) trials() []trial {
	in := func(name string) string { return filepath.Join(s.work, name) }
	out := func(name string) string { return filepath.Join(s.home, name) }
	all := []trial{
		{"write", out("file"), true}, {"create", out("new"), true}, {"write", in("link"), true},
		{"read", out(".ssh/id"), true}, {"read", filepath.Join(s.own, "secret"), true}, {"tcp", s.tcp, true}, {"udp", s.udp, true},
		{"unix", s.unix, s.abstract != ""}, {"create", in(".git/hooks/pre-commit"), false},
	}
	if s.abstract == "" {
		return all
	}
	return append(all, trial{"open", s.fifo, false}, trial{"open", "/proc/sys/kernel/core_pattern", false}, trial{"unix", s.abstract, false}, trial{"signal", strconv.Itoa(s.outsideProcess.Process.Pid), false})
}

// changed checks from outside the files under attack.
func (s *site) changed() (out []string) {
	for name, want := range s.files {
		if data, err := os.ReadFile(filepath.Join(s.home, name)); err != nil || string(data) != want {
			out = append(out, name+" was changed")
		}
	}
	if entries, err := os.ReadDir(filepath.Join(s.work, ".git", "hooks")); err != nil || len(entries) > 0 {
		out = append(out, "hooks were changed")
	}
	slices.Sort(out)
	return out
}

type cageFunc func(proc.Command) (proc.Confinement, error)

func (f cageFunc) Enclose(_ context.Context, c proc.Command) (proc.Confinement, error) { return f(c) }
