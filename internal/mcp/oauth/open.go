package oauth

import (
	"errors"
	"os/exec"
	"runtime"
)

// A Finder finds a user's program and its environment.
type Finder func(program string) (path string, env []string, err error)

// Browser returns a function that opens web addresses, or nil without a graphical session. The
// address is passed as an argument, without a shell.
func Browser(getenv func(string) string, find Finder) func(address string) error {
	var words []string
	switch {
	case getenv("SSH_CONNECTION") != "" || getenv("CI") != "":
		return nil // it would open on another machine than the user's
	case runtime.GOOS == "darwin":
		words = []string{"open"}
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		words = []string{"xdg-open"}
	default:
		return nil
	}
	return func(address string) error {
		safe, err := Address(address)
		if err != nil {
			return err
		}
		program, env, err := find(words[0])
		if err != nil {
			return errors.New(words[0] + " is not installed")
		}
		c := exec.Command(program, append(words[1:], safe)...)
		c.Env = env
		if err := c.Start(); err != nil {
			return err
		}
		go func() { _ = c.Wait() }() // the browser may keep running
		return nil
	}
}
