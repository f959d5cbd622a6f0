package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Detach starts one of the user's programs, which outlives this process and its terminal. It has no
// terminal and no stdin, and writes to the file log. The channel gets its exit error while this
// process runs.
func Detach(argv, env []string, dir, log string) (pid int, ended <-chan error, err error) {
	ways, err := waysOut()
	if err != nil {
		return 0, nil, err
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, nil, err
	}
	for _, way := range ways {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir, c.Env, c.Stdout, c.Stderr, c.SysProcAttr = dir, env, out, out, way
		if err = c.Start(); err == nil {
			done := make(chan error, 1)
			go func() { done <- errors.Join(c.Wait(), out.Close()) }()
			return c.Process.Pid, done, nil
		}
	}
	return 0, nil, errors.Join(fmt.Errorf("start %s: %w", argv[0], err), out.Close())
}
