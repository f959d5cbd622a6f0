package namespace

import (
	"runtime"
	"syscall"
	"testing"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// A second listener is not possible: the filter is then put on without one, and holds the same.
func TestAFilterHoldsWithoutAListener(t *testing.T) {
	if len(seccomptrace.ReportedCalls(false)) == 0 {
		t.Skip("no calls are watched on this architecture")
	}
	type result struct {
		first, second int
		err, refused  error
		foreign, own  error // of pairs of sockets: of a family that is closed, and of the machine's own
		single        error // of a socket of the machine's own that could be connected
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the filter
		var r result
		if _, r.err = call(syscall.SYS_PRCTL, prSetNoNewPrivs, 1); r.err == nil {
			if r.first, r.err = (Box{Filter: OwnNet}).install(); r.err == nil {
				r.second, r.err = (Box{Filter: OwnNet}).install()
				_, r.refused = call(427) // io_uring_register, which no witness is told of
				_, r.foreign = syscall.Socketpair(syscall.AF_TIPC, syscall.SOCK_STREAM, 0)
				_, r.own = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
				_, r.single = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			}
		}
		done <- r
	}()
	r := <-done
	if r.err == nil && r.first < 0 {
		t.Skip("this kernel tells nobody, or another program already")
	}
	if r.err != nil || r.second != -1 || r.refused != syscall.EPERM {
		t.Errorf("listener %d, then %d, %v; a closed call: %v", r.first, r.second, r.err, r.refused)
	}
	if r.foreign != syscall.EPERM || r.own != nil || r.single != syscall.EPERM {
		t.Errorf("a pair of another family: %v; of the machine's own: %v; a single one of it: %v", r.foreign, r.own, r.single)
	}
	_ = syscall.Close(r.first)
}
