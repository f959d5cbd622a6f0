package toolset

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// caseShell is a shell whose clock stands still and that keeps long outputs in the folder .spill.
// Of the processes it lists, those of the machine are replaced by a written list and those of a job
// stay.
func caseShell(t testing.TB, dir string) *Shell {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil && strings.Contains(t.Name(), "/bash") {
		t.Skip("bash is not installed")
	}
	s := NewShell(proc.Supervisor{}, proc.Environ([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"}, proc.EnvPolicy{}))
	t.Cleanup(s.Close)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.Now = func() time.Time { return clock }
	s.Spill = func(id tool.CallID) (io.WriteCloser, string, error) {
		path := filepath.Join(dir, ".spill", string(id)+".txt")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, "", err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		return f, path, err
	}
	s.Processes = func() ([]proc.Info, error) {
		return []proc.Info{
			{PID: 101, Parent: 1, State: "S", Memory: 9 << 20, Command: "/usr/bin/node server.js --port 8080"},
			{PID: 102, Parent: 101, State: "R", Memory: 220 << 20, Command: "node worker"},
			{PID: 103, Parent: 1, State: "T", Memory: 3 << 20, Command: "vim notes\x1b[31m.txt\nsecond line"},
			{PID: 104, Parent: 103, State: "Z", Command: "[git]"},
		}, nil
	}
	return s
}

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                           "plain\n",
		"a\x1b[31mred\x1b[0m b":             "ared b",
		"\x1b]0;title\aafter":               "after",
		"\x1b]8;;http://x\x1b\\link":        "link",
		"\x1b(Bx":                           "Bx",
		"\x1b":                              "",
		"\x1b[12":                           "",
		"10%\r50%\r100%\ndone":              "100%\ndone",
		"dos\r\nlines\r\n":                  "dos\nlines\n",
		"nul\x00 bell\a tab\t":              "nul␀ bell\uFFFD tab\t",
		"bad \xff byte":                     "bad \uFFFD byte",
		"back\bspace":                       "backspace",
		"one\x1b[1mtwo\nthree\x1b[0mfour\n": "onetwo\nthreefour\n",
	} {
		if got := plainText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzPlainText: whatever a command writes, the model gets text of the same lines without controls.
func FuzzPlainText(f *testing.F) {
	f.Add("a\x1b[31mred\x1b[0m\r\nb\rc")
	f.Add("\x1b]0;never ends")
	f.Add("\xff\x00\x1b")
	f.Fuzz(func(t *testing.T, in string) {
		got := plainText(in)
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
			t.Errorf("%q became %q", in, got)
		}
		if strings.Count(got, "\n") != strings.Count(in, "\n") {
			t.Errorf("%q lost lines: %q", in, got)
		}
		if plainText(got) != got {
			t.Errorf("%q is not final", got)
		}
	})
}

func TestSpillerKeepsOnlyWhatWasCut(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		cut  bool
		want bool
	}{"short": {100, false, false}, "short but many lines": {100, true, true}, "long": {200_000, true, true}} {
		var b memory
		s := spiller{keep: 50_000, open: func() (io.WriteCloser, string, error) { return &b, "file", nil }}
		for range c.size / 10 {
			s.take([]byte("123456789\n"))
		}
		path, err := s.close(c.cut)
		if err != nil || (path != "") != c.want || c.want && b.Len() != c.size {
			t.Errorf("%s: path %q, %d bytes, %v", name, path, b.Len(), err)
		}
	}
}

func TestSpillerReportsItsFailure(t *testing.T) {
	s := spiller{open: func() (io.WriteCloser, string, error) { return nil, "", os.ErrPermission }}
	s.take(make([]byte, 100_000))
	s.take(make([]byte, 100_000))
	if path, err := s.close(true); path != "" || err == nil {
		t.Errorf("path %q, error %v", path, err)
	}
}

// memory is a file in memory.
type memory struct{ strings.Builder }

func (m *memory) Close() error { return nil }
