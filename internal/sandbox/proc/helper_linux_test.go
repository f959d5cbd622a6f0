package proc_test

import (
	"os"
	"os/exec"
	"testing"
)

// startOwner starts such a stand-in and returns its process.
func startOwner(t *testing.T, script, tag, ledger string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "PROC_TEST_OWNER="+script, "PROC_TEST_TAG="+tag, "PROC_TEST_LEDGER="+ledger)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}
