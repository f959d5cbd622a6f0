package batch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/text/lineread"
	"adze/session"
)

// graceful is the time until an interrupted adze is killed, with its children.
const graceful = 15 * time.Second

// maxEvent limits an output line of adze, in bytes; results are the longest.
const maxEvent = 64 << 20

// UndoOff disables the undo states in a task's adze: the clone comes from a commit, and the patch
// can be reverted.
const UndoOff = "ADZE_UNDO=off"

type exit struct {
	code   int
	stderr string // end of the output
}

// Export writes a task's session to a file in the format of adze sessions import.
func (r *Runner) Export(ctx context.Context, id session.ID, path string) error {
	e, err := r.adze(ctx, r.Dir, nil, "", []string{"sessions", "export", string(id), "--format", "json", "-o", path}, func([]byte) {})
	if err == nil && e.code != 0 {
		err = errors.New(e.stderr)
	}
	return err
}

// adze runs this program in a folder and calls line for each line on its standard output. When ctx
// ends it is interrupted as by Ctrl-C; when this process dies, it dies too (on Linux; elsewhere at
// its next output line).
func (r *Runner) adze(ctx context.Context, dir string, env []string, input string, args []string, line func([]byte)) (exit, error) {
	if ctx.Err() != nil {
		return exit{}, context.Cause(ctx)
	}
	c := exec.CommandContext(ctx, r.Program, args...)
	c.Dir, c.Env = dir, slices.Concat(r.Env, r.Keys, env, []string{"PWD=" + dir, UndoOff})
	c.Stdin = strings.NewReader(input)
	stderr := proc.NewOutput(2<<10, 6<<10)
	c.Stderr = stderr
	c.SysProcAttr = apart()
	c.Cancel = func() error { return interrupt(c.Process) }
	c.WaitDelay = graceful
	out, err := c.StdoutPipe()
	if err != nil {
		return exit{}, err
	}
	// The system kills the child when the thread that started it ends, so the thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.Start(); err != nil {
		return exit{}, err
	}
	for lines := lineread.New(out, maxEvent); ; {
		text, err := lines.Next()
		if err == nil {
			line(text)
		} else if !errors.Is(err, lineread.ErrLong) {
			break
		}
	}
	err = c.Wait()
	text := stderr.Text()
	e := exit{code: c.ProcessState.ExitCode(), stderr: strings.TrimSpace(text.Head + text.Tail)}
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) && ctx.Err() == nil {
		return e, err
	}
	return e, nil
}

// kindOf returns an adze.stream/1 line's type, which is its first field.
func kindOf(line []byte) string {
	rest, is := bytes.CutPrefix(line, []byte(`{"type":"`))
	kind, _, ended := bytes.Cut(rest[:min(len(rest), 32)], []byte{'"'})
	if !is || !ended {
		return ""
	}
	return string(kind)
}

// Read updates the state from a line of a task's adze and reports whether it changed.
func (s *State) Read(line []byte) bool {
	kind := kindOf(line)
	switch kind {
	case "message":
		s.Turns++
		return true
	case "stage", "tool_start", "context":
	default:
		return false
	}
	var e struct {
		Stage       Stage
		Name, Title string
		Cost        *float64 `json:"cost_usd"`
		Args        struct{ Description, Path, Command, Pattern string }
	}
	_ = json.Unmarshal(line, &e) // use the valid fields
	switch kind {
	case "stage":
		s.Stage = e.Stage
	case "tool_start":
		s.Calls++
		s.LatestCall = cmp.Or(e.Title, strings.TrimSpace(e.Name+" "+cmp.Or(e.Args.Command, e.Args.Path, e.Args.Pattern, e.Args.Description)))
	case "context":
		if e.Cost != nil {
			s.Cost = e.Cost
		}
	}
	return true
}
