package hostio

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"adze/tui/input"
)

// besideTime is how long the other process may take to restore the terminal.
const besideTime = time.Second

// RunOnTerminal runs this program again on adze's terminal until it ends or ctx does. The new
// process gets keys typed ahead, and returns unhandled ones.
func RunOnTerminal(ctx context.Context, in, out *os.File, errs io.Writer, keys *input.PendingKeys, env []string, words ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, words...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // killed where interrupts are unsupported
	cmd.WaitDelay = besideTime
	files, over, err := handKeys(keys)
	if err != nil {
		return err
	}
	defer over()
	cmd.ExtraFiles = files
	return cmd.Run()
}
