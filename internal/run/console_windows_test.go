package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// console is a program in a pseudo console, and what it has drawn.
type console struct {
	t       *testing.T
	in      *os.File
	process windows.Handle

	mu    sync.Mutex
	drawn strings.Builder
}

// openConsole starts a program in a pseudo console of 100 columns and 30 rows. Where there can be
// none the test is skipped.
func (u *user) openConsole(words ...string) *console {
	u.t.Helper()
	inRead, in, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	out, outWrite, err := os.Pipe()
	if err != nil {
		u.t.Fatal(err)
	}
	var pc windows.Handle
	if err := windows.CreatePseudoConsole(windows.Coord{X: 100, Y: 30}, windows.Handle(inRead.Fd()), windows.Handle(outWrite.Fd()), 0, &pc); err != nil {
		u.t.Skipf("there is no pseudo console here: %v", err)
	}
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		u.t.Fatal(err)
	}
	defer attributes.Delete()
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, *(*unsafe.Pointer)(unsafe.Pointer(&pc)), unsafe.Sizeof(pc)); err != nil {
		u.t.Fatal(err)
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(words))
	if err != nil {
		u.t.Fatal(err)
	}
	dir, err := windows.UTF16PtrFromString(u.dir)
	if err != nil {
		u.t.Fatal(err)
	}
	var env []uint16
	for _, kv := range u.env {
		if !strings.HasPrefix(kv, "=") {
			text, _ := windows.UTF16FromString(kv)
			env = append(env, text...)
		}
	}
	env = append(env, 0)
	info := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	info.Cb = uint32(unsafe.Sizeof(info))
	info.Flags = windows.STARTF_USESTDHANDLES // without handles: those of the console, and not of this process
	var made windows.ProcessInformation
	if err := windows.CreateProcess(nil, line, nil, nil, false, windows.EXTENDED_STARTUPINFO_PRESENT|windows.CREATE_UNICODE_ENVIRONMENT, &env[0], dir, &info.StartupInfo, &made); err != nil {
		u.t.Fatal(err)
	}
	_ = windows.CloseHandle(made.Thread)
	c := &console{t: u.t, in: in, process: made.Process}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := out.Read(buf)
			c.mu.Lock()
			c.drawn.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	u.t.Cleanup(func() {
		_ = windows.TerminateProcess(made.Process, 1)
		_, _ = windows.WaitForSingleObject(made.Process, windows.INFINITE)
		_ = windows.CloseHandle(made.Process)
		windows.ClosePseudoConsole(pc)
		_ = in.Close()
		_ = out.Close()
	})
	return c
}

func (c *console) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drawn.String()
}

func (c *console) until(text string, most time.Duration) bool {
	for deadline := time.Now().Add(most); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(c.all(), text) {
			return true
		}
	}
	return false
}

func TestTheInterfaceOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	probe := u.openConsole(filepath.Join(os.Getenv("SYSTEMROOT"), "system32", "cmd.exe"), "/c", "echo probe")
	if !probe.until("probe", 5*time.Second) {
		t.Skip("a pseudo console hands on no output here, as that of Wine 8 does not where its parent has none")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := u.openConsole(self, u.script("-- 1 --\ntext: Hello from the model.\n"))
	if !c.until("adze", time.Minute) {
		t.Fatalf("nothing is drawn: %q", c.all())
	}
	if _, err := c.in.WriteString("say hello\r"); err != nil {
		t.Fatal(err)
	}
	if !c.until("Hello from the model.", time.Minute) {
		t.Errorf("no answer is drawn: %q", c.all())
	}
}
