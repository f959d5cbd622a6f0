package proc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// TestWhatOutlivedItsAdzeIsInside reads records of calls: of those whose adze was killed, only one
// that is older than all above this process may have started it.
func TestWhatOutlivedItsAdzeIsInside(t *testing.T) {
	if why := proc.NewLedger(t.TempDir()).Inside(); why != "" {
		t.Skip("this test runs below a call of adze:", why)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Skip("needs a boot id:", err)
	}
	space, _ := os.Readlink("/proc/self/ns/pid")
	dead := map[string]any{"pid": 1 << 30, "start": 1, "boot": strings.TrimSpace(string(boot))}
	for name, c := range map[string]struct {
		start       uint64
		boot, space string
		says        string
	}{
		"an older call":     {0, "", space, "nothing above this process is older"},
		"a younger call":    {1 << 60, "", space, ""},
		"another namespace": {1 << 60, "", "pid:[1]", "another process namespace"},
		"an earlier boot":   {0, "then", space, ""},
	} {
		dir := t.TempDir()
		shim := map[string]any{"pid": 1 << 30, "start": c.start, "boot": dead["boot"]}
		if c.boot != "" {
			shim["boot"] = c.boot
		}
		data, err := json.Marshal(map[string]any{"tag": "t", "owner": dead, "shim": shim, "space": c.space})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "1.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if why := proc.NewLedger(dir).Inside(); (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestAKilledShimLeavesNothing starts what hides from every search: without the mark, in a session
// of its own, its parents gone.
func TestAKilledShimLeavesNothing(t *testing.T) {
	need(t, "setsid")
	tag := newTag()
	r := run(t, shell(`(trap "" HUP TERM; env -i setsid /bin/sh -c "/bin/sleep `+tag+`; :" &); until pgrep -f "^/bin/sleep `+tag+`" > /dev/null; do :; done; kill -9 $PPID`))
	if r.Killed != proc.Lost {
		t.Errorf("%+v", r)
	}
	awaitNone(t, tag)
}
