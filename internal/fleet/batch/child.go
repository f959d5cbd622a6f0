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

// graceful is how long an adze that is told to end may take until it is killed. What it started
// ends with it.
const graceful = 15 * time.Second

// maxEvent bounds a line of an adze, in bytes; the longest are its results.
const maxEvent = 64 << 20

// UndoOff is the variable by which the adze of a task keeps no states of its files: the clone comes
// from a commit, and its patch is the way back.
const UndoOff = "ADZE_UNDO=off"

// exit is how an adze ended.
type exit struct {
	code   int
	stderr string // its end
}

// Export writes a session of a task to a file, as adze sessions import takes it.
func (r *Runner) Export(ctx context.Context, id session.ID, path string) error {
	e, err := r.adze(ctx, r.Dir, nil, "", []string{"sessions", "export", string(id), "--format", "json", "-o", path}, func([]byte) {})
	if err == nil && e.code != 0 {
		err = errors.New(e.stderr)
	}
	return err
}

// adze runs this program in a folder. Each line of its standard output goes to line. When ctx ends
// it is interrupted as by Ctrl-C; when this process dies, it dies too (on Linux; elsewhere it ends
// when it prints its next line).
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
	// The system ends the child with the thread that started it, so the thread must stay.
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

// kindOf is the type of a line of adze.stream/1, which stands at its beginning.
func kindOf(line []byte) string {
	rest, is := bytes.CutPrefix(line, []byte(`{"type":"`))
	kind, _, ended := bytes.Cut(rest[:min(len(rest), 32)], []byte{'"'})
	if !is || !ended {
		return ""
	}
	return string(kind)
}

// Read updates the state by a line of a task's adze, and reports whether it changed.
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
	_ = json.Unmarshal(line, &e) // the fields that it has count
	switch kind {
	case "stage":
		s.Stage = e.Stage
	case "tool_start":
		s.Calls++
		s.Doing = cmp.Or(e.Title, strings.TrimSpace(e.Name+" "+cmp.Or(e.Args.Command, e.Args.Path, e.Args.Pattern, e.Args.Description)))
	case "context":
		if e.Cost != nil {
			s.Cost = e.Cost
		}
	}
	return true
}
