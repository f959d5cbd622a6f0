//go:build unix

package workspace_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUpdateKeepsOwnerAndAttributes(t *testing.T) {
	p := open(t)
	path := p.put("f", "old")
	attr := unix.Setxattr(path, "user.adze-test", []byte("kept"), 0)
	owned := os.Getuid() == 0 && os.Chown(path, 12345, 23456) == nil
	if attr != nil && !owned {
		t.Skip("neither attributes nor owners can be set here")
	}
	if owned {
		if err := unix.Chmod(path, 0o4755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.write("f", "new"); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if owned && (st.Uid != 12345 || st.Gid != 23456 || st.Mode&0o7777 != 0o4755) {
		t.Errorf("owner %d:%d, mode %o", st.Uid, st.Gid, st.Mode&0o7777)
	}
	if attr == nil {
		value := make([]byte, 16)
		if n, err := unix.Getxattr(path, "user.adze-test", value); err != nil || string(value[:n]) != "kept" {
			t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
		}
	}
}
