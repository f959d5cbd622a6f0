package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"adze/internal/sandbox/proc"
)

// A Sandbox belongs to one workspace. It is safe for concurrent use. On Windows a command gets a
// restricted token: it writes only in the workspace and a temporary folder. It reads everything
// that the user may read and has the user's network, because restricting these takes administrator
// rights.
//
// Known limits: a command can create a protected place (held) that is missing when it starts. The
// first command in a large workspace waits until its access list has reached all files. Places
// writable for every user are open to it.
type Sandbox struct {
	o         Options
	workspace folder

	mu     sync.Mutex
	report *Report
}

type folder struct{ path string }

// New makes a sandbox.
func New(o Options) *Sandbox { return &Sandbox{o: o, workspace: folder{o.Workspace}} }

// Close does nothing.
func (s *Sandbox) Close() {}

func usual() []Means { return []Means{RestrictedToken} }

func lacksOfLandlock() []string { return nil }

func lacksOfToken() []string { return []string{"reading your files", "the network"} }

func (s *Sandbox) by(m Means, c proc.Command) (proc.Walls, error) {
	if m != RestrictedToken {
		return proc.Walls{}, errors.New("this system has no sandbox of the kind " + string(m))
	}
	id, err := rootID(s.workspace.path)
	if err != nil {
		return proc.Walls{}, err
	}
	tmp := filepath.Join(s.o.State, "sandbox", "tmp", filepath.Base(id.String()))
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return proc.Walls{}, err
	}
	if err := letWrite(s.workspace.path, id, held()); err != nil {
		return proc.Walls{}, err
	}
	for _, also := range append([]string{tmp}, s.o.Write...) {
		if err := letWrite(also, id, nil); err != nil {
			return proc.Walls{}, err
		}
	}
	token, err := restrictedToken(id)
	if err != nil {
		return proc.Walls{}, err
	}
	return proc.Walls{Sys: asToken(token), Env: withTemp(c.Env, tmp), Name: string(m), Done: func() proc.Findings {
		_ = token.Close()
		return proc.Findings{}
	}}, nil
}

func withTemp(env []string, tmp string) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !strings.EqualFold(name, "TMP") && !strings.EqualFold(name, "TEMP") {
			out = append(out, kv)
		}
	}
	return append(out, "TMP="+tmp, "TEMP="+tmp)
}

// testTime limits the self-test, with time for a busy machine.
const testTime = 60 * time.Second

// test makes a workspace with files beside it and tries to write from inside. It returns an error
// if a command cannot work inside: in its workspace, with temporary files, or with the user's
// shell.
func (s *Sandbox) test(ctx context.Context, m Means) (selfTestResult, error) {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	if err := os.MkdirAll(s.o.State, 0o700); err != nil {
		return selfTestResult{}, err
	}
	top, err := os.MkdirTemp(s.o.State, "sandbox-test-")
	if err != nil {
		return selfTestResult{}, err
	}
	defer os.RemoveAll(top)
	work := filepath.Join(top, "work")
	own := filepath.Join(work, "in.txt")
	kept := []string{ // must stay unchanged
		filepath.Join(top, "beside.txt"), filepath.Join(work, ".git", "hooks", "pre-commit"),
		filepath.Join(work, ".git", "config"), filepath.Join(work, ".vscode", "tasks.json"),
	}
	for _, path := range append(kept, own) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("before"), 0o600)); err != nil {
			return selfTestResult{}, err
		}
	}
	inner := New(Options{Workspace: work, State: filepath.Join(top, "state")})
	cage := cageFunc(func(c proc.Command) (proc.Walls, error) { return inner.by(m, c) })
	run := func(shell proc.ShellProgram, line string) (proc.Result, error) {
		return proc.Supervisor{Cage: cage}.Run(ctx, proc.Command{Argv: shell.Argv(line), Dir: work, Env: os.Environ(), Tag: "sandbox test", Timeout: testTime})
	}
	cmd := proc.ShellProgram{Kind: proc.Cmd, Path: filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "cmd.exe")}
	line := `echo t>"%TEMP%\t.txt"&& type "%TEMP%\t.txt"`
	for _, path := range append(kept, own) {
		line += `& echo after>"` + path + `"`
	}
	r, err := run(cmd, line+`& mkdir "`+filepath.Join(top, "made")+`"& echo done`)
	if err != nil {
		return selfTestResult{}, err
	}
	if out := r.Output.Head; !strings.HasPrefix(out, "t") || !strings.Contains(out, "done") {
		return selfTestResult{}, fmt.Errorf("a command cannot work in it: %q", out)
	}
	var f selfTestResult
	changed := func(path string) bool {
		text, err := os.ReadFile(path)
		return err != nil || string(text) != "before"
	}
	if !changed(own) {
		return selfTestResult{}, errors.New("a command cannot write in its workspace")
	}
	for _, path := range kept {
		if changed(path) {
			f.broken = true
			f.escaped = append(f.escaped, "write "+strings.TrimPrefix(path, top+`\`))
		}
	}
	if _, err := os.Lstat(filepath.Join(top, "made")); err == nil {
		f.broken = true
		f.escaped = append(f.escaped, "mkdir beside the workspace")
	}
	if f.broken {
		return f, nil
	}
	shell := proc.FindShell(os.Getenv, os.Environ())
	if r, err := run(shell, "echo adze"); err != nil || !strings.Contains(r.Output.Head, "adze") {
		return selfTestResult{}, fmt.Errorf("%s does not run in it: %v, %q", shell.Name, cmp.Or(err, r.Err()), r.Output.Head)
	}
	f.escaped = append(f.escaped, lacksOfToken()...)
	return f, nil
}

func (s *Sandbox) standing() Level { return NoLevel }

// whyLive returns why commands work on the live tree.
func (s *Sandbox) whyLive(Means) string { return "this system has no views of folders" }

// Stands returns false: there are no placeholder folders.
func (s *Sandbox) Stands(string) bool { return false }

// Recover does nothing: no command runs on a view.
func (s *Sandbox) Recover() ([]string, error) { return nil, nil }

// Forget removes the data stored for a deleted workspace's commands.
func Forget(state, workspace string) error {
	id, err := rootID(workspace)
	if err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(state, "sandbox", "tmp", filepath.Base(id.String())))
}

// Stage is unused: this system has no views.
type Stage struct{}

// Staged lists the differences between a stage and the workspace.
type Staged struct {
	Files           []proc.ChangedFile
	Left, Conflicts []string
}

// Stage returns an error.
func (s *Sandbox) Stage(string) (*Stage, error) { return nil, errors.New(s.whyLive(None)) }

// DropStages does nothing.
func DropStages(string, string) error { return nil }

// HasStage returns false.
func HasStage(_, _, _ string) bool { return false }

// Notes, Mount, Folder, Unmount, Leave, Drop and Review belong to stages of other systems.
func (*Stage) Notes() string            { return "" }
func (*Stage) Mount() error             { return errors.ErrUnsupported }
func (*Stage) Folder() *os.File         { return nil }
func (*Stage) Unmount()                 {}
func (*Stage) Leave() error             { return nil }
func (*Stage) Drop() error              { return nil }
func (*Stage) Review() (*Staged, error) { return nil, errors.ErrUnsupported }

// Empty reports whether nothing differs.
func (*Staged) Empty() bool { return true }

// Take does nothing.
func (*Staged) Take(string, []proc.FileChoice) (proc.Findings, error) {
	return proc.Findings{}, errors.ErrUnsupported
}

// Unstaged returns why there can be no stage here.
func (*Cage) Unstaged() string { return "this system has no views of folders" }

func machineKey() string {
	v := windows.RtlGetVersion()
	key := fmt.Sprintf("windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil {
			key += fmt.Sprint(" ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return key + " " + proc.FindShell(os.Getenv, os.Environ()).Path
}

// within reports whether path is dir or below it; both are clean and absolute.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, `..`+string(os.PathSeparator))
}

// DatabaseInUse returns "": there are no views on this system.
func (*Sandbox) DatabaseInUse([]string, string) string { return "" }
