package hostio

import (
	"strings"
	"testing"
)

// TestModesPromiseNoSandboxThatIsNotThere: what a user chooses a mode by must hold here.
func TestModesPromiseNoSandboxThatIsNotThere(t *testing.T) {
	for _, m := range Modes("") {
		if m.Name == "auto" && !strings.Contains(m.Means, "where it is full") {
			t.Errorf("auto means: %s", m.Means)
		}
	}
}
