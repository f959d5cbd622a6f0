package stdio

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestMain lets the test binary be a program that tells what it finds.
func TestMain(m *testing.M) {
	if os.Getenv("TELL_STDOUT") == "" {
		os.Exit(m.Run())
	}
	if ClosedAtStart(os.Stdout) {
		os.Exit(3)
	}
}

// tells starts a program with these descriptors, of which the second is stdout; nil is a closed
// one.
func tells(t *testing.T, files ...*os.File) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(self, []string{self}, &os.ProcAttr{Env: append(os.Environ(), "TELL_STDOUT=1"), Files: files, Sys: &syscall.SysProcAttr{}})
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return state.ExitCode() == 3
}

func open(t *testing.T, name string, flag int) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A program that starts another directly and gives it no stdout, without any shell.
func TestAClosedStdoutIsToldFromANull(t *testing.T) {
	null, both := open(t, os.DevNull, os.O_WRONLY), open(t, os.DevNull, os.O_RDWR)
	file := open(t, t.TempDir()+"/out", os.O_CREATE|os.O_RDWR)
	in := open(t, os.DevNull, os.O_RDONLY)
	for name, c := range map[string]struct {
		files  []*os.File
		closed bool
	}{
		"closed":                       {[]*os.File{in, nil, file}, true},
		"closed with stdin":            {[]*os.File{nil, nil, file}, true},
		"all closed":                   {[]*os.File{nil, nil, nil}, true},
		"not to be read":               {[]*os.File{in, null, file}, false},
		"a file":                       {[]*os.File{nil, file, nil}, false},
		"one null for all, as daemons": {[]*os.File{both, both, both}, false},
		"one null for stdin and it":    {[]*os.File{both, both, file}, false},
		"one null for it and stderr":   {[]*os.File{in, both, both}, false},
	} {
		if got := tells(t, c.files...); got != c.closed {
			t.Errorf("%s: closed is %t", name, got)
		}
	}
}

// Node opens a null for each descriptor that is to be ignored.
func TestNodeMayIgnoreIt(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", `process.exit(require("child_process").spawnSync(process.argv[1], {stdio: ["ignore", "ignore", "inherit"]}).status)`, self)
	cmd.Env = append(os.Environ(), "TELL_STDOUT=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
}
