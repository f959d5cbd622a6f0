package proc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// TestWhoIsBelowACallIsKnownOnWindows: by the job of the call, also without a mark and a parent.
func TestWhoIsBelowACallIsKnownOnWindows(t *testing.T) {
	ledger := proc.NewLedger(t.TempDir())
	if why := ledger.Below(os.Getpid()); why != "" {
		t.Skip("this test runs below a call of adze:", why)
	}
	for _, how := range []string{"tree 1", "orphan"} {
		c := command(how)
		c.Linger = true
		p, err := proc.Supervisor{Ledger: ledger}.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for len(pids(p.Output().Text().Head)) < 2 {
			time.Sleep(time.Millisecond) // it writes when it is there
		}
		child := pids(p.Output().Text().Head)[1]
		if why := ledger.Below(child); !strings.Contains(why, "job") {
			t.Errorf("%s: %q", how, why)
		}
		p.End(proc.Aborted)
		p.Wait()
	}
	if why := ledger.Below(os.Getpid()); why != "" {
		t.Errorf("this process: %s", why)
	}
}

// TestRecordsOfTheDeadAreForgottenOnWindows.
func TestRecordsOfTheDeadAreForgottenOnWindows(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "call-x.job"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ledger := proc.NewLedger(dir)
	p, err := proc.Supervisor{Ledger: ledger}.Start(t.Context(), command("sleep"))
	if err != nil {
		t.Fatal(err)
	}
	left := func() int {
		if _, err := ledger.Reap(); err != nil {
			t.Error(err)
		}
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		return len(all)
	}
	if n := left(); n != 1 {
		t.Errorf("%d records while a call runs", n)
	}
	p.End(proc.Aborted)
	p.Wait()
	if n := left(); n != 0 {
		t.Errorf("%d records after it", n)
	}
}
