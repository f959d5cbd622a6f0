package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"adze/internal/testkit/effort"
)

// A process that does nothing but change into itself is seen by its mark at any moment.
func TestAProcessThatChangesIntoAnotherKeepsItsMark(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(again, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const tag = "changes"
	cmd := exec.Command(again)
	cmd.Env = append(os.Environ(), Mark+"="+tag)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Skip("no shell:", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	looks, missed := effort.Rounds(200, 2000, 100_000), 0
	for range looks {
		if !slices.Contains(findMarked(tag), cmd.Process.Pid) {
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d looks missed it", missed, looks)
	}
}
