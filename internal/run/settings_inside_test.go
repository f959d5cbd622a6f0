package run

import (
	"testing"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
)

// TestEveryCommandIsFreeOrTheUsers fails for a command that nobody has decided about: cmd.Free
// names it. Such a command is refused below a call until then.
func TestEveryCommandIsFreeOrTheUsers(t *testing.T) {
	a := &app{}
	a.Getenv = func(string) string { return "" }
	seen := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		seen++
		if _, known := cmd.Free(cmd.Path(c)); !known {
			t.Errorf("command.Free does not know %q", cmd.Path(c))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(commandLine(a))
	if seen < 80 {
		t.Errorf("%d commands were seen", seen)
	}
	if free, known := cmd.Free("new thing"); free || known {
		t.Error("an unknown command is free")
	}
}
