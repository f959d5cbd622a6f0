package session_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"adze/session"
	"adze/tool"
)

// A turn whose calls fail because the machine cannot run them does not end as done, whatever the
// model says of it.
func TestATurnThatTheMachineCannotServeIsNotDone(t *testing.T) {
	type step = func(context.Context, func(session.Chunk) bool)
	n := 0
	calls := func(name string) step {
		n++
		return says(call(fmt.Sprint("c", n), name, `{"text":"x"}`))
	}
	done := says(text("All is done."))
	for name, c := range map[string]struct {
		err      error
		steps    []step
		cause    session.Cause
		hint     string
		requests int
	}{
		"descriptors, one call":     {syscall.EMFILE, []step{calls("look"), done}, session.CauseTool, "ulimit -n", 2},
		"descriptors, again":        {syscall.EMFILE, []step{calls("look"), calls("look"), calls("look"), done}, session.CauseTool, "ulimit -n", 3},
		"descriptors of all":        {syscall.ENFILE, []step{calls("look"), done}, session.CauseTool, "fs.file-max", 2},
		"processes":                 {syscall.EAGAIN, []step{calls("look"), done}, session.CauseTool, "ulimit -u", 2},
		"memory":                    {syscall.ENOMEM, []step{calls("look"), done}, session.CauseTool, "memory", 2},
		"disk":                      {syscall.ENOSPC, []step{calls("look"), done}, session.CauseTool, "disk space", 2},
		"another call works":        {syscall.EMFILE, []step{calls("look"), calls("change"), done}, session.CauseDone, "", 3},
		"another one worked before": {syscall.EMFILE, []step{calls("change"), calls("look"), done}, session.CauseDone, "", 3},
		"worked, then never again": {syscall.EMFILE, []step{calls("change"), calls("look"), calls("look"), calls("look"), done},
			session.CauseTool, "ulimit -n", 4},
		"a failure of its own": {os.ErrNotExist, []step{calls("look"), done}, session.CauseDone, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := rigWith(t, []tool.Tool{noting("look", tool.Read, func(context.Context, string) (string, error) {
				return "", tool.Fail(tool.CodeIO, "cannot begin: %w", &os.PathError{Op: "open", Path: "/x", Err: c.err})
			}), noting("change", tool.Write, echo)}, c.steps...)
			res := r.prompt(t, "go")
			wantCause(t, res, c.cause)
			if !strings.Contains(res.Hint, c.hint) || len(r.model.requests) != c.requests {
				t.Errorf("%d requests, want %d; %q, hint %q", len(r.model.requests), c.requests, res.Message, res.Hint)
			}
			if c.cause == session.CauseTool && !strings.Contains(res.Message, c.err.Error()) {
				t.Errorf("the cause is not named: %q", res.Message)
			}
		})
	}
}
