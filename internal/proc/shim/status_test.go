package shim

import (
	"strings"
	"syscall"
	"testing"

	"adze/internal/proc/shim/box"
)

func TestUnboxedTellsTheStep(t *testing.T) {
	line := failLine(&box.Fault{Step: "/a b/\"c\"\n", Err: &box.Fault{Step: "null", Err: syscall.ELOOP}})
	e, ok := ParseEvent(strings.TrimSuffix(line, "\n"))
	if want := (Event{Kind: Unboxed, Errno: syscall.ELOOP, Step: "/a b/\"c\"\n: null"}); !ok || e != want {
		t.Errorf("%q is read as %+v, want %+v", line, e, want)
	}
}
