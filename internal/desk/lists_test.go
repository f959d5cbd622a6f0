package desk

import (
	"strings"
	"testing"
)

// TestModesPromiseNoSandboxThatIsNotThere: what a person chooses a mode by must hold here.
func TestModesPromiseNoSandboxThatIsNotThere(t *testing.T) {
	for level, promised := range map[string]bool{"full": true, "degraded": false, "none": false, "": false} {
		for _, m := range Modes(level) {
			if m.Name == "auto" && strings.Contains(m.Means, "sandbox contains") != promised {
				t.Errorf("with a sandbox of level %q auto means: %s", level, m.Means)
			}
		}
	}
}
