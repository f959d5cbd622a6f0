package cmd_test

import (
	"os"
	"testing"
)

// sandboxed skips where this machine has no full sandbox.
func sandboxed(t *testing.T, u *user) {
	t.Helper()
	if c := u.doctor(0, "--offline")["sandbox"]; c.State != "ok" {
		t.Skipf("this machine has no full sandbox: %s", c.Found)
	}
}

// outside makes a folder that no sandbox changes. Sandboxes have a /tmp of their own.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "adze-test-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
