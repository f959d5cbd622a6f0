//go:build linux || darwin

package live_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/live"
)

func TestOnlyTheUserReachesASocket(t *testing.T) {
	o := own(t, nil)
	for _, at := range []string{o.folder, filepath.Join(o.folder, "one.sock")} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", at, info.Mode(), err)
		}
	}
	if err := os.Chmod(o.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Listen(live.Config{Folder: o.folder, ID: "two"}); err == nil {
		t.Error("it listens where others look")
	}
}

// TestASocketOfTheDead, as the kernel leaves one behind, is nobody's, and the next owner's.
func TestASocketOfTheDead(t *testing.T) {
	o := own(t, nil)
	o.Close("")
	killed := filepath.Join(o.folder, "dead.sock") // as the kernel leaves one behind
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: killed, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := live.Dial(t.Context(), o.folder, "dead", live.Subscription{}); !errors.Is(err, live.ErrNobody) {
		t.Errorf("a socket of the dead: %v", err)
	}
	again, err := live.Listen(live.Config{Folder: o.folder, ID: "dead", Hello: func() live.Hello { return live.Hello{} }, ParentCall: func(int) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close("")
	if all, err := live.List(t.Context(), o.folder); err != nil || len(all) != 1 || all[0].Session != "dead" {
		t.Errorf("listed are %v, %v", all, err)
	}
}
