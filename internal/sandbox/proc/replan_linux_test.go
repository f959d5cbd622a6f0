package proc_test

import (
	"context"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim/namespace"
)

// fickle is a cage whose first walls cannot be built.
type fickle struct {
	bad, asked, done int
	argv             []string // starts the shim of the first walls
}

func (f *fickle) Enclose(context.Context, proc.Command) (proc.Confinement, error) {
	f.asked++
	walls := proc.Confinement{Done: func() proc.Findings { f.done++; return proc.Findings{} }}
	if f.asked <= f.bad && f.argv != nil {
		walls.Argv, walls.Box = f.argv, namespace.Box{Filter: namespace.OwnNet}
	} else if f.asked <= f.bad {
		walls.Box = namespace.Box{Mounts: []namespace.Mount{{Kind: namespace.Locked, Path: "/it/was/here"}}}
	}
	return walls, nil
}

// What a plan has seen may be gone when its walls are built. Nothing has run then, so it is planned
// anew, a few times.
func TestWallsThatCannotBeBuiltArePlannedAnew(t *testing.T) {
	for name, c := range map[string]struct {
		bad, asked int
		runs       bool
	}{"at once": {0, 1, true}, "once": {1, 2, true}, "always": {99, 3, false}} {
		f := &fickle{bad: c.bad}
		r, err := proc.Supervisor{Cage: f}.Run(t.Context(), shell("echo ran"))
		if f.asked != c.asked || f.done != c.asked {
			t.Errorf("%s: planned %d times, let go %d times", name, f.asked, f.done)
		}
		if c.runs && (err != nil || r.Output.Head != "ran\n") || !c.runs && (err == nil || !strings.Contains(err.Error(), "/it/was/here")) {
			t.Errorf("%s: %v %q", name, err, r.Output.Head)
		}
	}
}

// The same holds for what should start the shim, and did not.
func TestAStarterThatFailsHasRunNothing(t *testing.T) {
	need(t, "sh")
	starter := []string{"/bin/sh", "-c", "echo the socket is gone >&2; exit 1", "--"}
	f := &fickle{bad: 1, argv: starter}
	if r, err := (proc.Supervisor{Cage: f}).Run(t.Context(), shell("echo ran")); err != nil || r.Output.Head != "ran\n" || f.done != 2 {
		t.Errorf("once: %v %q, let go %d times", err, r.Output.Head, f.done)
	}
	f = &fickle{bad: 99, argv: starter}
	separate := shell("echo ran")
	separate.Separate = true
	for _, c := range []proc.Command{shell("echo ran"), separate} {
		if _, err := (proc.Supervisor{Cage: f}).Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "was not run") || !strings.Contains(err.Error(), "the socket is gone") {
			t.Errorf("always: %v", err)
		}
	}
	// One that began and was killed may have run it.
	f = &fickle{bad: 1, argv: []string{"/bin/sh", "-c", "echo begun 0 0 >&4", "--"}}
	if r, err := (proc.Supervisor{Cage: f}).Run(t.Context(), shell("echo ran")); err != nil || r.Killed != proc.Lost || f.asked != 1 {
		t.Errorf("killed: %v %+v", err, r)
	}
}
