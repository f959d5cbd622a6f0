package live_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"adze/internal/live"
)

// pipeOf is the name in the marker of the session one.
func (o *owned) pipeOf(t *testing.T) string {
	t.Helper()
	at, err := windows.UTF16PtrFromString(filepath.Join(o.folder, "one.sock"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	buf := make([]byte, 1000)
	n, err := windows.Read(h, buf)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(buf[:n]))
}

func openPipe(t *testing.T, name string) windows.Handle {
	t.Helper()
	at, err := windows.UTF16PtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(at, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = windows.CloseHandle(h) })
	return h
}

// TestOnlyTheUserReachesAPipe: its list names the user and the system, and nobody else.
func TestOnlyTheUserReachesAPipe(t *testing.T) {
	o := own(t, nil)
	d, err := windows.GetSecurityInfo(openPipe(t, o.pipeOf(t)), windows.SE_KERNEL_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	list := d.String()
	if strings.Count(list, "(") != 2 || strings.Count(list, "(A;") != 2 || !strings.Contains(list, ";;;SY)") || !strings.Contains(list, ";;;"+me.User.Sid.String()+")") {
		t.Errorf("the list is %s", list)
	}
}

// TestAPipeOfAnotherProcessIsRefused: whoever can write a marker cannot have clients talk with them.
func TestAPipeOfAnotherProcessIsRefused(t *testing.T) {
	o := own(t, nil)
	name := o.pipeOf(t)
	other := `\\.\pipe\adze-live-4-` + name[strings.LastIndex(name, "-")+1:]
	at, err := windows.UTF16PtrFromString(other)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateNamedPipe(at, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, 1, 100, 100, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	for marker, want := range map[string]error{
		other + "\n": live.ErrRefused,
		other:        live.ErrNobody, // half written
		strings.Replace(name, `\\.\pipe\`, `\\elsewhere\pipe\`, 1) + "\n": live.ErrNobody,
		`\\.\pipe\adze-live-4-x\..\..\y` + "\n":                           live.ErrNobody,
		fmt.Sprintf(`\\.\pipe\adze-live-%d-gone`+"\n", os.Getpid()):       live.ErrNobody,
	} {
		if err := os.WriteFile(filepath.Join(o.folder, "two.sock"), []byte(marker), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := live.Dial(t.Context(), o.folder, "two", live.Subscription{}); !errors.Is(err, want) {
			t.Errorf("%q: %v", marker, err)
		}
	}
}
