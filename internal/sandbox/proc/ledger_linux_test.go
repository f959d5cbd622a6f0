package proc_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim"
)

func records(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLedgerHoldsRunningCallsOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := proc.Supervisor{Ledger: proc.NewLedger(dir)}
	p, err := s.Start(t.Context(), shell("sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(records(t, dir)); n != 1 {
		t.Errorf("%d records while running", n)
	}
	// The owner, this test, is alive: nothing may be ended.
	if r, err := s.Ledger.Reap(); err != nil || r.Ended != 0 {
		t.Errorf("reaped %+v %v", r, err)
	}
	p.End(proc.Aborted)
	p.Wait()
	if n := len(records(t, dir)); n != 0 {
		t.Errorf("%d records after the end", n)
	}
}

// When adze and the shim are both killed, the next start finds what they left.
func TestReapAfterDoubleKill(t *testing.T) {
	need(t, "setsid")
	dir, tag := t.TempDir(), newTag()
	o := startOwner(t, "setsid sleep "+tag+" & sleep "+tag, tag, dir)
	awaitSome(t, tag, 3) // with the shim and the shell
	var list []string
	await(t, "a record", func() bool { list = records(t, dir); return len(list) == 1 })
	pid, err := strconv.Atoi(filepath.Base(list[0][:len(list[0])-len(".json")]))
	if err != nil {
		t.Fatal(err)
	}
	kill := func(pid int, sig syscall.Signal) {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	kill(pid, syscall.SIGSTOP)
	await(t, "a shim that stands still", func() bool { st, _ := shim.ReadStat(pid); return st.State == 'T' })
	kill(o.Process.Pid, syscall.SIGKILL)
	kill(pid, syscall.SIGKILL)
	_ = o.Wait()
	awaitSome(t, tag, 2)
	r, err := proc.NewLedger(dir).Reap()
	if err != nil || r.Ended < 2 || r.Survivors != 0 || len(r.Calls) != 1 {
		t.Errorf("reaped %+v %v", r, err)
	}
	awaitNone(t, tag)
	if n := len(records(t, dir)); n != 0 {
		t.Errorf("%d records left", n)
	}
}

// A record must never end a process that only has the same id as a recorded one.
func TestReapLeavesStrangersAlone(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("needs a boot id:", err)
	}
	st, ok := shim.ReadStat(stranger.Process.Pid)
	if !ok {
		t.Fatal("no such process")
	}
	dir := t.TempDir()
	for name, start := range map[string]uint64{"another start": st.Start - 1, "another boot": st.Start} {
		thisBoot := string(boot[:len(boot)-1])
		if name == "another boot" {
			thisBoot = "00000000-0000-0000-0000-000000000000"
		}
		id := map[string]any{"pid": stranger.Process.Pid, "start": start, "boot": thisBoot}
		data, err := json.Marshal(map[string]any{"tag": "t", "owner": map[string]any{"pid": 1, "start": 1, "boot": thisBoot}, "shim": id})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "torn.json"), []byte(`{"tag":"x`), 0o600); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, ".adze-new-0") // another adze writes it now
	if err := os.WriteFile(written, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := proc.NewLedger(dir).Reap()
	if err != nil || r.Ended != 0 {
		t.Errorf("reaped %+v %v", r, err)
	}
	if _, err := os.Stat(written); err != nil {
		t.Error("a record that is being written was removed")
	}
	if st, ok := shim.ReadStat(stranger.Process.Pid); !ok || st.State == 'Z' {
		t.Error("the stranger was killed")
	}
	if n := len(records(t, dir)); n != 0 {
		t.Errorf("%d records left", n)
	}
}

func TestReapWithoutLedger(t *testing.T) {
	var none *proc.Ledger
	if r, err := none.Reap(); err != nil || r.Ended != 0 {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := proc.NewLedger(filepath.Join(t.TempDir(), "absent")).Reap(); err != nil || r.Ended != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// Both ways of walking the tree must agree, whatever the kernel offers.
func TestDescendants(t *testing.T) {
	p, err := proc.Supervisor{}.Start(t.Context(), shell("(sleep 1000 & sleep 1000 & wait) & wait; exit"))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "a subshell and two sleeps, by both ways", func() bool {
		listed, scanned := shim.Descendants(p.PID()), shim.ScanDescendants(p.PID())
		slices.Sort(listed)
		slices.Sort(scanned)
		return len(listed) == 3 && slices.Equal(listed, scanned)
	})
	p.End(proc.Aborted)
	p.Wait()
}
