package run

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/files/workspace/buffers"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/tool"
	"adze/toolset"
)

// What an editor does for the tools of a conversation.

// filesOf is the way to files that goes through an editor; if nil, it offers none.
func filesOf(e acp.Editor) workspace.FS {
	if e.Read == nil && e.Write == nil {
		return nil
	}
	f := &buffers.FS{Base: workspace.Disk{}}
	refused := func(err error) error {
		if errors.Is(err, acp.ErrNoFile) {
			return fmt.Errorf("%w: %w", buffers.ErrRefused, err)
		}
		return err
	}
	if e.Read != nil {
		f.Read = func(path string) (string, error) { text, err := e.Read(path); return text, refused(err) }
	}
	if e.Write != nil {
		f.Write = func(path, text string) error { return refused(e.Write(path, text)) }
	}
	return f
}

// inTerminal runs a command in a terminal of an editor's.
type inTerminal = func(context.Context, tool.CallID, proc.Command) (proc.Result, error)

// terminal gives a terminal the commands that may leave the sandbox: those that would run outside
// of it anyway, because it is switched off or because the user was asked and allowed them. All
// others run here. If nil, there is no terminal.
func (c *edited) terminal(run inTerminal) inTerminal {
	if run == nil {
		return nil
	}
	return func(ctx context.Context, call tool.CallID, cmd proc.Command) (proc.Result, error) {
		cage := c.wired.Cage
		if cage.Encloses(cmd) || cage.Setting != sandbox.Off && !c.allowed(call) {
			return proc.Result{}, toolset.ErrNoTerminal
		}
		return run(ctx, call, cmd)
	}
}

// terminal has commands run by an editor; if nil, it offers no terminal.
func (e *editor) terminal(by acp.Editor) func(context.Context, tool.CallID, proc.Command) (proc.Result, error) {
	if by.Terminal == nil {
		return nil
	}
	return func(ctx context.Context, call tool.CallID, c proc.Command) (proc.Result, error) {
		within, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		end, err := by.Terminal(within, acp.TerminalCall{Call: call, Argv: c.Argv, Dir: c.Dir, Env: c.Env, Limit: terminalOutput})
		if errors.Is(err, acp.ErrNoTerminal) {
			return proc.Result{}, fmt.Errorf("%w: %w", toolset.ErrNoTerminal, err)
		}
		out := proc.NewOutput(c.Head, c.Tail)
		text := end.Output
		if c.Mask != nil {
			text = e.app.Ring.Mask().Text(text)
		}
		if end.Truncated {
			text = "(the beginning is not kept)\n" + text
		}
		_, _ = out.Write([]byte(text)) // it never fails
		if c.Spill != nil {
			c.Spill([]byte(text))
		}
		r := proc.Result{Code: end.Code, Output: out.Text()}
		switch {
		case ctx.Err() != nil:
			r.Killed, err = proc.Aborted, nil
		case within.Err() != nil:
			r.Killed, err = proc.Timeout, nil
		case end.Signal != "":
			r.Signal = signalNamed(end.Signal)
		}
		return r, err
	}
}

// terminalOutput is how much of a command's output an editor keeps for us, in bytes; a message of
// the protocol holds it.
const terminalOutput = 1 << 20

// signalNamed is the signal of a name; one that nobody knows here is told as a kill.
func signalNamed(name string) syscall.Signal {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGHUP, syscall.SIGPIPE} {
		if proc.SignalName(s) == name {
			return s
		}
	}
	return syscall.SIGKILL
}
