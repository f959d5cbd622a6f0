package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/project/hooks/dialect"
	"adze/internal/sandbox/proc"
)

// output is what a program left that ended by itself.
type output struct {
	code           int
	stdout, stderr string
	walls          string // the sandbox that it ran in
}

// start runs a hook to its end. Whatever else happens than that it exits by itself is an error.
func (e *Engine) start(ctx context.Context, h chosenHook, input []byte, time time.Duration) (output, error) {
	argv := h.Argv
	if h.Shell != "" {
		argv = []string{"/bin/sh", "-c", h.Shell}
	}
	words, inside := append(strings.Fields(h.Shell), h.Argv...), false
	env := proc.Consented(e.Env, e.Dir, words...)
	if h.Holds == nil { // nobody consented to what the workspace would put in a program's place
		env = proc.Outside(proc.Isolated(e.Env, e.Dir, words...), e.Dir)
	}
	if h.May != nil {
		var err error
		if inside, err = h.May(); err != nil {
			return output{}, err
		}
	}
	r, err := e.Supervisor.Run(ctx, proc.Command{
		Argv: argv, Dir: e.Dir, Env: append(env, dialect.Environment(e.Dir)...), Tag: "hook", UserWords: words, RequireWalls: inside,
		Input: input, Timeout: time, Separate: true, Head: maxOutput, MaxOutput: maxOutput,
	})
	if err != nil {
		return output{}, err
	}
	out := output{code: r.Code, stdout: r.Output.Head, stderr: r.Errors.Head, walls: r.Sandbox}
	switch {
	case r.Killed == proc.Timeout:
		return out, fmt.Errorf("it did not answer within %s", time)
	case r.Killed == proc.Limited, r.Output.Bytes > maxOutput, r.Errors.Bytes > maxOutput:
		return out, fmt.Errorf("it wrote more than %d KiB", maxOutput>>10)
	case r.Killed != proc.ByItself || r.Signal != 0:
		return out, r.Err()
	}
	return out, nil
}
