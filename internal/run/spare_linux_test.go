package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommandsShareTheirSupervisor counts the processes that a run puts between itself and its
// commands.
func TestCommandsShareTheirSupervisor(t *testing.T) {
	u := newUser(t)
	var script strings.Builder
	for i := range 6 {
		fmt.Fprintf(&script, "-- %d --\ncall bash: {\"command\":\"awk '/^PPid/{print $2}' /proc/$PPID/status >>owners; echo $PPID >>shims; echo %d\"}\n", i+1, i)
	}
	script.WriteString("-- 7 --\ntext: end\n")
	u.run("-p", u.script(script.String()), "--permission-mode", "yolo", "look").wants(0)
	for name, want := range map[string]int{"shims": 1, "owners": 1} {
		raw, err := os.ReadFile(filepath.Join(u.dir, name))
		seen := strings.Fields(string(raw))
		if err != nil || len(seen) != 6 || len(slices.Compact(seen)) != want {
			t.Errorf("%s: %v, %q", name, err, raw)
		}
	}
}
