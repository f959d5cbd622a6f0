package proc_test

import (
	"os"
	"strings"
	"testing"
)

// TestTimersOfACommandAreAsPreciseAsOurs: a shim may be late, but what it starts may not.
func TestTimersOfACommandAreAsPreciseAsOurs(t *testing.T) {
	const file = "/proc/self/timerslack_ns"
	ours, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err)
	}
	for range 2 {
		if theirs := run(t, shell("cat "+file)).Output.Head; strings.TrimSpace(theirs) != strings.TrimSpace(string(ours)) {
			t.Errorf("%s ns, want %s", theirs, ours)
		}
	}
	if after, _ := os.ReadFile(file); string(after) != string(ours) {
		t.Errorf("those of this process may be late by %s ns, were by %s", after, ours)
	}
}
