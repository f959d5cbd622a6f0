package hostio

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"adze/tui/input"
)

// besideTime is how long this program's other process has to give the terminal back.
const besideTime = time.Second

// Beside runs this program once more on the terminal that adze has, until it ends or ctx does. That
// process gets the keys that were read ahead, and hands back those that it read itself.
func Beside(ctx context.Context, in, out *os.File, errs io.Writer, keys *input.Ahead, env []string, words ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, words...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // where that is not possible, it is killed
	cmd.WaitDelay = besideTime
	files, over, err := handKeys(keys)
	if err != nil {
		return err
	}
	defer over()
	cmd.ExtraFiles = files
	return cmd.Run()
}
