package oauth

import (
	"errors"
	"os/exec"
	"runtime"
)

// Finder finds a program of the user's, and the environment to start it with.
type Finder func(program string) (path string, env []string, err error)

// Browser opens web addresses on this system; nil where no window can be shown. The address is one
// argument of a program, and no shell sees it.
func Browser(getenv func(string) string, find Finder) func(address string) error {
	var words []string
	switch {
	case getenv("SSH_CONNECTION") != "" || getenv("CI") != "":
		return nil // it would open elsewhere than where the user sits
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
		go func() { _ = c.Wait() }() // the browser may stay as long as it likes
		return nil
	}
}
