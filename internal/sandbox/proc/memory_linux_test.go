package proc_test

import (
	"runtime"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// TestASmallCommandTakesLittleMemory: what a command takes of this process goes with what it
// writes.
func TestASmallCommandTakesLittleMemory(t *testing.T) {
	var s proc.Supervisor
	taken := func(script string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 16 {
			if r, err := s.Run(t.Context(), shell(script)); err != nil || r.Err() != nil {
				t.Fatal(err, r)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 16
	}
	if got := taken("echo small"); got > 32<<10 {
		t.Errorf("%d bytes for a command that writes six", got)
	}
	const long = 300_000
	r := run(t, shell("head -c 300000 /dev/zero | tr '\\0' x"))
	if r.Output.Bytes != long || !strings.HasSuffix(r.Output.Tail, "xxx") {
		t.Errorf("%d bytes of output", r.Output.Bytes)
	}
}
