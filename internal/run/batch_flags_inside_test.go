package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/run/flags"
)

// flagsOfBatches are the flags of a run that no task may bring: the batch decides them, or they
// need a user.
const flagsOfBatches = "print output-format input-format continue resume session-id worktree fork accept-plan cwd record replay no-session plain inline transcript demo background detached staged"

// TestEveryFlagIsForATaskOrNot: a new flag has to be put into one of the two lists, and nothing
// passes that is in neither.
func TestEveryFlagIsForATaskOrNot(t *testing.T) {
	c := &cobra.Command{Use: "adze"}
	(&flags.Run{}).Add(c)
	values := map[string]string{"bool": "true", "int": "1", "float64": "1", "duration": "1m"}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		ours := slices.Contains(strings.Fields(flagsOfBatches), f.Name)
		if theirs := slices.Contains(flagsOfTasks(), f.Name); ours == theirs {
			t.Errorf("--%s: it is for a task: %v, it is not: %v", f.Name, theirs, ours)
		}
		value := values[f.Value.Type()]
		if value == "" {
			value = "x"
		}
		err := batches{}.RunFlags([]string{"--" + f.Name + "=" + value})
		if refused := err != nil && strings.Contains(err.Error(), "is not for a task of a batch"); refused != ours {
			t.Errorf("--%s: %v", f.Name, err)
		}
	})
	for _, name := range flagsOfTasks() {
		if c.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}
