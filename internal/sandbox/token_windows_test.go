package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/sandbox/proc"
)

// TestTheLevelOnWindows asks for the level and then tries it: the word and what happens are one. A
// system that judges no restricting ids, as Wine 8 does not, has no sandbox, and says why.
func TestTheLevelOnWindows(t *testing.T) {
	top := t.TempDir()
	work := filepath.Join(top, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	box := New(Options{Workspace: work, Home: filepath.Join(top, "home"), State: filepath.Join(top, "state")})
	r, err := box.Level(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(top, "beside.txt")
	cmd := proc.ShellProgram{Kind: proc.Cmd, Path: filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "cmd.exe")}
	c := proc.Command{Argv: cmd.Argv(`echo x>"` + beside + `"& echo in>in.txt`), Dir: work, Env: os.Environ()}
	if r.Level == NoLevel {
		if r.Means != None || !strings.Contains(r.How, "token") {
			t.Errorf("no reason is told: %+v", r)
		}
		if _, err := box.Enclose(context.Background(), c); err == nil || !strings.Contains(err.Error(), r.How) {
			t.Errorf("a command is put into a sandbox that is none: %v", err)
		}
		t.Skipf("this system has no sandbox: %s", r.How)
	}
	if r.Level != Degraded || r.Means != RestrictedToken || !slices.Equal(r.Open, lacksOfToken()) {
		t.Errorf("%+v", r)
	}
	cage := &Cage{Box: box, Setting: Auto, Wanted: func() bool { return true }}
	if level, holds := cage.Holds(false); level != string(Degraded) || holds {
		t.Errorf("%s, commands need no question: %v", level, holds)
	}
	if _, err := (proc.Supervisor{Cage: cage}).Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(beside); err == nil {
		t.Error("a command wrote beside its workspace")
	}
	if _, err := os.Stat(filepath.Join(work, "in.txt")); err != nil {
		t.Error("a command cannot write in its workspace")
	}
}

// TestTheWallsOfAToken plans the walls of a command twice: the access lists name the id once, the
// places that are held deny it, and the command runs with the token, whether the system heeds it or
// not.
func TestTheWallsOfAToken(t *testing.T) {
	top := t.TempDir()
	work := filepath.Join(top, "work")
	if err := os.MkdirAll(filepath.Join(work, ".vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Workspace: work, State: filepath.Join(top, "state")})
	id, err := rootID(work)
	if err != nil {
		t.Fatal(err)
	}
	if upper, err := rootID(strings.ToUpper(work) + `\`); err != nil || !windows.EqualSid(id, upper) {
		t.Errorf("another spelling of the folder has another id: %v", err)
	}
	cage := cageFunc(func(c proc.Command) (proc.Walls, error) { return s.by(RestrictedToken, c) })
	cmd := proc.ShellProgram{Kind: proc.Cmd, Path: filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "cmd.exe")}
	for range 2 {
		r, err := proc.Supervisor{Cage: cage}.Run(context.Background(), proc.Command{Argv: cmd.Argv(`echo %TEMP%& exit 3`), Dir: work, Env: os.Environ()})
		if err != nil {
			t.Skipf("no process starts with a restricted token here: %v", err)
		}
		if r.Code != 3 || !strings.HasPrefix(r.Output.Head, filepath.Join(top, "state", "sandbox", "tmp")) {
			t.Errorf("code %d, %q", r.Code, r.Output.Head)
		}
	}
	named := func(path string, kind uint8) (n int) {
		info, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := info.DACL()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range entriesOf(list) {
			if a.Header.AceType == kind && windows.EqualSid((*windows.SID)(unsafe.Pointer(&a.SidStart)), id) {
				n++
			}
		}
		return n
	}
	probe := filepath.Join(top, "probe")
	if err := os.Mkdir(probe, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := letWrite(probe, id, nil); err != nil || named(probe, windows.ACCESS_ALLOWED_ACE_TYPE) == 0 {
		t.Skipf("access lists keep no ids that nobody has here, as under Wine: %v", err)
	}
	if n := named(work, windows.ACCESS_ALLOWED_ACE_TYPE); n != 1 {
		t.Errorf("the workspace names the id %d times", n)
	}
	if n := named(filepath.Join(work, ".vscode"), windows.ACCESS_DENIED_ACE_TYPE); n != 1 {
		t.Errorf("a place that is held denies the id %d times", n)
	}
}
