//go:build unix

package shim

import (
	"strings"
	"syscall"
	"testing"

	"adze/internal/sandbox/proc/shim/namespace"
)

func TestUnboxedTellsTheStep(t *testing.T) {
	line := failLine(&namespace.Fault{Step: "/a b/\"c\"\n", Err: &namespace.Fault{Step: "null", Err: syscall.ELOOP}})
	e, ok := ParseEvent(strings.TrimSuffix(line, "\n"))
	if want := (Event{Kind: Unboxed, Errno: syscall.ELOOP, Step: "/a b/\"c\"\n: null"}); !ok || e != want {
		t.Errorf("%q is read as %+v, want %+v", line, e, want)
	}
}
