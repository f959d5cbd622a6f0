package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/project/hooks/dialect"
	"adze/internal/sandbox/proc"
)

// output holds the output from a program that exited by itself.
type output struct {
	code           int
	stdout, stderr string
	walls          string // its sandbox
}

// start runs a hook to its end. Any end other than its own exit is an error.
func (e *Engine) start(ctx context.Context, h chosenHook, input []byte, time time.Duration) (output, error) {
	argv := h.Argv
	if h.Shell != "" {
		argv = []string{"/bin/sh", "-c", h.Shell}
	}
	words, inside := append(strings.Fields(h.Shell), h.Argv...), false
	env := proc.ConsentedEnv(e.Env, e.Dir, words...)
	if h.Holds == nil { // nobody consented to the workspace's replacement of the program
		env = proc.WithoutPathsIn(proc.Isolated(e.Env, e.Dir, words...), e.Dir)
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
