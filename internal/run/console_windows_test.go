package run_test

import (
	"os"
	"regexp"
	"slices"
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
	shut    func() // closes the console

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
	c := &console{t: u.t, in: in, process: made.Process, shut: sync.OnceFunc(func() { windows.ClosePseudoConsole(pc) })}
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
		c.shut()
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

// readsEscapes reports whether a console moves its cursor by an escape sequence.
func readsEscapes(console *os.File) bool {
	h := windows.Handle(console.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil || windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return false
	}
	var before, after windows.ConsoleScreenBufferInfo
	_ = windows.GetConsoleScreenBufferInfo(h, &before)
	_, _ = console.WriteString("\x1b[7C")
	return windows.GetConsoleScreenBufferInfo(h, &after) == nil && after.CursorPosition.X == before.CursorPosition.X+7
}

// needConsole skips a test where a pseudo console shows nothing, and says whether this one reads
// escape sequences.
func needConsole(u *user) (escapes bool) {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	c := u.withEnv(inConsole + "=probe").openConsole(self)
	if !c.until("escapes are read:", time.Minute) {
		u.t.Skipf("a pseudo console shows nothing here: %q", c.all())
	}
	return c.until("escapes are read: true", 100*time.Millisecond)
}

// withEnv is the user with one more variable.
func (u *user) withEnv(kv string) *user {
	also := *u
	also.env = append(slices.Clip(u.env), kv)
	return &also
}

// adzeInConsole starts adze in a pseudo console.
func (u *user) adzeInConsole(words ...string) *console {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	return u.withEnv(inConsole + "=1").openConsole(append([]string{self}, words...)...)
}

func (c *console) types(text string) {
	c.t.Helper()
	if _, err := c.in.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the end of the program and returns its exit code.
func (c *console) exit() (code uint32) {
	c.t.Helper()
	if r, err := windows.WaitForSingleObject(c.process, 60_000); r != windows.WAIT_OBJECT_0 {
		c.t.Fatalf("it does not end: %v, %q", err, c.all())
	}
	if err := windows.GetExitCodeProcess(c.process, &code); err != nil {
		c.t.Fatal(err)
	}
	return code
}

// plainText is what was drawn without the sequences that move the cursor.
func plainText(drawn string) string {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(drawn, "")
}

// TestAPlainConversationOnWindows talks with adze in a pseudo console, line by line.
func TestAPlainConversationOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	needConsole(u)
	c := u.adzeInConsole("--plain", u.script("-- 1 --\ntext: Hello from the model.\n-- 2 --\ntext: Good bye.\n"))
	if !c.until("/quit leaves", time.Minute) {
		t.Fatalf("it asks for nothing: %q", c.all())
	}
	c.types("say hello\r")
	if !c.until("Hello from the model.", time.Minute) {
		t.Fatalf("no answer is shown: %q", c.all())
	}
	c.types("and end\r")
	if !c.until("Good bye.", time.Minute) {
		t.Fatalf("no second answer is shown: %q", c.all())
	}
	seen := plainText(c.all())
	for _, part := range []string{"/quit leaves.", "say hello", "Hello from the model.", "and end", "Good bye."} {
		_, rest, found := strings.Cut(seen, part)
		if !found {
			t.Fatalf("%q is not shown, or not in its place: %q", part, seen)
		}
		seen = rest
	}
	c.types("/quit\r")
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d: %q", code, c.all())
	}
}

// TestTheInterfaceOnWindows talks with the interface in a pseudo console.
func TestTheInterfaceOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	if !needConsole(u) {
		t.Skip("this console reads no escape sequences, as that of Wine 8, so that nothing can be drawn in it")
	}
	c := u.adzeInConsole(u.script("-- 1 --\ntext: Hello from the model.\n"))
	if !c.until("adze", time.Minute) {
		t.Fatalf("nothing is drawn: %q", c.all())
	}
	c.types("say hello\r")
	if !c.until("Hello from the model.", time.Minute) {
		t.Errorf("no answer is drawn: %q", c.all())
	}
}

// TestCtrlCOnWindows ends a command of a run by Ctrl-C: the run says so, the command is gone, and
// the session goes on.
func TestCtrlCOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	needConsole(u)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	probe := u.withEnv(inConsole + "=ctrl-c").openConsole(self)
	probe.until("waiting", time.Minute)
	probe.types("\x03")
	if !probe.until("interrupted", 5*time.Second) {
		t.Skip("Ctrl-C that is typed in this console reaches no program, as in that of Wine 8")
	}
	c := u.adzeInConsole("-p", "--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\"echo ran>>ran.txt& ping -n 600 127.0.0.1\"}\n-- 2 --\ntext: Done.\n"), "wait")
	u.untilFile("ran.txt", "ran")
	c.types("\x03")
	if code := c.exit(); code != 130 {
		t.Errorf("exit code %d: %q", code, c.all())
	}
	u.nothingRuns("ping.exe")
	u.run("-p", "-c", u.script("-- 1 --\ntext: Went on.\n"), "go on").wants(0, "Went on.")
}

// TestAConsoleIsClosedOnWindows closes the console of a run: its command ends with it, and the
// session goes on.
func TestAConsoleIsClosedOnWindows(t *testing.T) {
	u := newUser(t).cmdShell()
	needConsole(u)
	c := u.adzeInConsole("-p", "--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\"echo ran>>ran.txt& ping -n 600 127.0.0.1\"}\n-- 2 --\ntext: Done.\n"), "wait")
	u.untilFile("ran.txt", "ran")
	c.shut()
	c.exit()
	u.nothingRuns("ping.exe")
	u.run("-p", "-c", u.script("-- 1 --\ntext: Went on.\n"), "go on").wants(0, "Went on.")
}
