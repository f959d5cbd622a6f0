package batch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/text/lineread"
)

// graceful is how long an adze that is told to end may take until it is killed; what it started
// ends with it.
const graceful = 15 * time.Second

// maxEvent bounds a line that is read of an adze, in bytes; the longest are its results.
const maxEvent = 64 << 20

// exit is how an adze ended.
type exit struct {
	code int
	said string // the end of its standard error
}

// adze runs this program in a folder. Each whole line of its standard output that wanted lets in
// goes to line. When ctx ends it is interrupted as by Ctrl-C; when this process dies, it dies too
// (on Linux; elsewhere it ends when it has something to say).
func (b *Batch) adze(ctx context.Context, dir, input string, args []string, wanted func(start []byte) bool, line func([]byte)) (exit, error) {
	if ctx.Err() != nil {
		return exit{}, context.Cause(ctx)
	}
	b.touch()
	c := exec.CommandContext(ctx, b.Program, args...)
	c.Dir, c.Env = dir, b.environ(dir)
	c.Stdin = strings.NewReader(input)
	said := proc.NewOutput(2<<10, 6<<10)
	c.Stderr = said
	c.SysProcAttr = apart()
	c.Cancel = func() error {
		if errors.Is(context.Cause(ctx), ErrLost) {
			return killApart(c.Process)
		}
		return interrupt(c.Process)
	}
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
	wanted, line = b.heard(wanted, line)
	readEvents(out, wanted, line)
	err = c.Wait()
	text := said.Text()
	e := exit{code: c.ProcessState.ExitCode(), said: strings.TrimSpace(text.Head + text.Tail)}
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) && ctx.Err() == nil {
		return e, err
	}
	return e, nil
}

// touch notes that the clone of the task that is kept Away may change from now on.
func (b *Batch) touch() {
	if b.Away != nil {
		b.latest = nil
	}
}

// readEvents hands on the lines that are wanted by how they begin, but those that are too long.
func readEvents(out io.Reader, wanted func([]byte) bool, line func([]byte)) {
	r := lineread.New(out, maxEvent)
	r.Wanted = wanted
	for {
		whole, err := r.Next()
		if err == nil {
			line(whole)
		} else if !errors.Is(err, lineread.ErrLong) {
			return
		}
	}
}

// event is what is read of a line of adze.stream/1.
type event struct {
	Type    string   `json:"type"`
	Session string   `json:"session"`
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Cost    *float64 `json:"cost_usd"`
	Args    struct{ Description, Path, Command, Pattern string }
}

// doing is a call in a few words.
func (e event) doing() string {
	if e.Title != "" { // it names what is done
		return e.Title
	}
	return strings.TrimSpace(e.Name + " " + cmp.Or(e.Args.Command, e.Args.Path, e.Args.Pattern, e.Args.Description))
}

// told are the lines that a batch reads; the other ones are in the session.
func told(start []byte) bool {
	for _, kind := range []string{"init", "tool_start", "context", "message", "result"} {
		if bytes.HasPrefix(start, []byte(`{"type":"`+kind+`"`)) {
			return true
		}
	}
	return false
}

// decode reads a line; one that is none is nothing.
func decode(line []byte) (e event) {
	_ = json.Unmarshal(line, &e) // what it has of the fields counts
	return e
}
