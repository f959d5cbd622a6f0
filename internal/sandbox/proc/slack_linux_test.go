package proc_test

import (
	"os"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// TestTimersOfACommandAreAsPreciseAsOurs: a shim may be late, but what it starts may not.
func TestTimersOfACommandAreAsPreciseAsOurs(t *testing.T) {
	const file = "/proc/self/timerslack_ns"
	ours, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err)
	}
	for name, s := range map[string]proc.Supervisor{"one command": {}, "a shim that stays": sparing(t)} {
		for range 2 {
			_, theirs := under(t, s, nil, "cat "+file)
			if strings.TrimSpace(theirs) != strings.TrimSpace(string(ours)) {
				t.Errorf("%s: %s ns, want %s", name, theirs, ours)
			}
		}
	}
	if after, _ := os.ReadFile(file); string(after) != string(ours) {
		t.Errorf("those of this process may be late by %s ns, were by %s", after, ours)
	}
}
