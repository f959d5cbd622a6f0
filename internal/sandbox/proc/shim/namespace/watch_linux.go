package namespace

import (
	"sync"
	"syscall"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Watch has the kernel tell of what the calling thread, and all that it starts, changes in folders;
// nothing is refused. The thread must be locked, as for Confine.
//
// It is nil where that cannot be had: the kernel is too old, another program listens already, or
// the user is not root. Without root the kernel wants that the command can gain no rights, and then
// sudo in it would fail.
func Watch() *seccomptrace.Witness {
	p := watchingHere()
	if len(p) == 0 || syscall.Geteuid() != 0 {
		return nil
	}
	for _, flags := range []uintptr{newListener | waitKillable, newListener} {
		fd, err := impose(p, flags)
		if err == syscall.EACCES { // a container has taken that right from root, who gains none by starting a program
			if _, err := call(syscall.SYS_PRCTL, prSetNoNewPrivs, 1); err != nil {
				return nil
			}
			fd, err = impose(p, flags)
		}
		if err == nil {
			return seccomptrace.New(fd, seccomptrace.Settings{Only: true})
		}
	}
	return nil
}

// watchingHere is made once for all commands of this process.
var watchingHere = sync.OnceValue(func() []instruction { return watching(here()) })

// watching is the filter that has the kernel tell of changes of files and lets everything go on.
// Calls of another table of the processor are not watched.
func watching(n numbers) []instruction {
	if n.arch == 0 || len(seccomptrace.Changing()) == 0 {
		return nil
	}
	p := []instruction{{load, 0, 0, atArch}, {ifEqual, 1, 0, n.arch}, {answer, 0, 0, answerAllow}, {load, 0, 0, atNumber}}
	if n.x32 {
		p = append(p, instruction{ifAbove, 0, 1, x32Table}, instruction{answer, 0, 0, answerAllow})
	}
	var rules []rule
	for _, t := range seccomptrace.Changing() {
		rules = append(rules, rule{t.Number, watch(t)})
	}
	sortRules(rules)
	return append(p, search(rules)...)
}
