package run

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"adze/internal/run/process"
	"adze/internal/text/usage"
)

// TestEveryCommandTellsHowItIsWritten walks all commands: each that does something shows an example
// of itself, and one with too few or too many words is a mistake with the next move.
func TestEveryCommandTellsHowItIsWritten(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden { // a former name, whose help shows the present one
			return
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.HasParent() || c.HasSubCommands() || !c.Runnable() || c.Name() == "help" {
			return
		}
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: its help has no example of it: %q", c.CommandPath(), c.Example)
		}
		if c.Args == nil {
			t.Errorf("%s: takes any words and says nothing", c.CommandPath())
			return
		}
		for _, words := range [][]string{nil, slices.Repeat([]string{"x"}, 200)} {
			var mistake *usage.Error
			if err := c.Args(c, words); err != nil && (!errors.As(err, &mistake) || mistake.Hint == "") {
				t.Errorf("%s with %d words: %v: no hint", c.CommandPath(), len(words), err)
			}
		}
	}
	walk(commandLine(&app{&process.Process{}}))
}
