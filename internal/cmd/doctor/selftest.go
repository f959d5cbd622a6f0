package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/undo"
)

// trial is a function that must work on every machine. It returns a description of its result.
type trial struct {
	name string
	try  func(context.Context) (string, error)
}

// errNotHere means that a trial does not apply to this system.
var errNotHere = errors.New("not on this system")

const trialTime = 30 * time.Second

// SelfTest tries, in a temporary folder, the basics that adze uses: files, locks, the store,
// processes, the sandbox and undo.
func (d Doctor) SelfTest(ctx context.Context) []Check {
	top, err := os.MkdirTemp("", "adze-self-test-")
	if err == nil {
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		return []Check{{Name: "folder", State: Fail, Finding: err.Error(), Mend: "make the temporary folder writable"}}
	}
	defer os.RemoveAll(top)
	var out []Check
	b := bench{top: top, home: filepath.Join(top, "home"), work: filepath.Join(top, "home", "work"), state: filepath.Join(top, "state")}
	if err := b.fill(); err != nil {
		return []Check{{Name: "folder", State: Fail, Finding: err.Error(), Mend: "make the temporary folder writable"}}
	}
	b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}})
	defer b.box.Close()
	for _, t := range b.trials() {
		ctx, cancel := context.WithTimeout(ctx, trialTime)
		found, err := t.try(ctx)
		cancel()
		switch {
		case errors.Is(err, errNotHere):
			out = append(out, Check{Name: t.name, State: Warn, Finding: err.Error()})
		case err != nil:
			out = append(out, Check{Name: t.name, State: Fail, Finding: err.Error()})
		default:
			out = append(out, fine(t.name, found))
		}
	}
	return out
}

// bench is the trials' folder and environment.
type bench struct {
	top, home, work, state string
	box                    *sandbox.Sandbox
}

func (b bench) fill() error {
	for _, dir := range []string{b.state, filepath.Join(b.work, ".git", "hooks"), filepath.Join(b.home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{
		filepath.Join(b.work, "file.txt"): "as it was\n", filepath.Join(b.work, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(b.work, ".git", "config"): "[core]\n",
		filepath.Join(b.home, ".ssh", "id"): "secret\n", filepath.Join(b.home, "beside.txt"): "beside\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b bench) trials() []trial {
	return []trial{
		{"system", func(context.Context) (string, error) { return runtime.GOOS + "/" + runtime.GOARCH, nil }},
		{"program", func(context.Context) (string, error) { return os.Executable() }},
		{"rename", b.renames},
		{"case", b.letterCase},
		{"links", b.links},
		{"store", b.store},
		{"command", b.runs("echo out", func(r proc.Result) error { return wants(r, 0, "out") })},
		{"exit code", b.runs("exit 7", func(r proc.Result) error { return wants(r, 7, "") })},
		{"streams", b.runs("echo out; echo err >&2", func(r proc.Result) error {
			if !strings.Contains(r.Errors.Head, "err") {
				return fmt.Errorf("standard error was %q", r.Errors.Head)
			}
			return wants(r, 0, "out")
		})},
		{"environment", b.runs(`echo "<$ADZE_SECRET_TOKEN>"`, func(r proc.Result) error { return wants(r, 0, "<>") })},
		{"timeout", b.timeout},
		{"what is left", b.runs("sleep 300 & echo out", func(r proc.Result) error {
			if r.Survivors > 0 {
				return fmt.Errorf("%d processes are left", r.Survivors)
			}
			return wants(r, 0, "out")
		})},
		{"abort", b.abort},
		{"sandbox", b.level},
		{"inside", b.boxed},
		{"undo", b.undo},
	}
}

func wants(r proc.Result, code int, out string) error {
	if r.Killed != proc.ByItself || r.Code != code || !strings.Contains(r.Output.Head, out) {
		return fmt.Errorf("exit code %d (%s), output %q; wanted %d and %q", r.Code, r.Killed, r.Output.Head, code, out)
	}
	return nil
}

func (b bench) command(line string) proc.Command {
	env := proc.Environ(append(os.Environ(), "ADZE_SECRET_TOKEN=x", "HOME="+b.home), proc.EnvPolicy{})
	argv := []string{"bash", "--noprofile", "--norc", "-c", line}
	if shell := proc.FindShell(os.Getenv, env); shell.Path != "" {
		argv = shell.Argv(line)
	}
	return proc.Command{Argv: argv, Dir: b.work, Env: env, Separate: true, Timeout: trialTime}
}

// runs returns a trial for a bash line.
func (b bench) runs(line string, check func(proc.Result) error) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if shell := proc.FindShell(os.Getenv, os.Environ()); shell.Kind != proc.Bash {
			return "", fmt.Errorf("%w: there is no bash", errNotHere)
		}
		r, err := proc.Supervisor{}.Run(ctx, b.command(line))
		if err == nil {
			err = check(r)
		}
		return "as it must, in " + r.Duration.Round(time.Millisecond).String(), err
	}
}

func (b bench) timeout(ctx context.Context) (string, error) {
	c := b.command("sleep 300")
	c.Timeout = 200 * time.Millisecond
	r, err := proc.Supervisor{}.Run(ctx, c)
	if err == nil && (r.Killed != proc.Timeout || r.Survivors > 0) {
		err = fmt.Errorf("it was ended by %q after %s, and %d are left", r.Killed, r.Duration, r.Survivors)
	}
	return "ended after " + r.Duration.Round(time.Millisecond).String(), err
}

func (b bench) abort(ctx context.Context) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := proc.Supervisor{}.Start(ctx, b.command("sleep 300 & sleep 300"))
	if err != nil {
		return "", err
	}
	cancel()
	r := p.Wait()
	if r.Killed != proc.Aborted || r.Survivors > 0 {
		return "", fmt.Errorf("it was ended by %q, and %d are left", r.Killed, r.Survivors)
	}
	return "ended with what it started", nil
}

func (b bench) renames(context.Context) (string, error) {
	from, to := filepath.Join(b.top, "new"), filepath.Join(b.top, "old")
	err := errors.Join(os.WriteFile(from, []byte("new"), 0o600), os.WriteFile(to, []byte("old"), 0o600))
	if err == nil {
		err = os.Rename(from, to)
	}
	if got, _ := os.ReadFile(to); err == nil && string(got) != "new" {
		err = fmt.Errorf("the file holds %q", got)
	}
	return "a file is replaced in one step", err
}

func (b bench) letterCase(context.Context) (string, error) {
	if _, err := os.Stat(filepath.Join(b.work, "FILE.TXT")); err == nil {
		return "names differ only by more than case", nil
	}
	return "names differ by case", nil
}

func (b bench) links(context.Context) (string, error) {
	at := filepath.Join(b.top, "link")
	if err := os.Symlink(b.work, at); err != nil {
		return "", fmt.Errorf("%w: %w", errNotHere, err)
	}
	real, err := filepath.EvalSymlinks(at)
	if err == nil && real != b.work {
		err = fmt.Errorf("it leads to %s", real)
	}
	return "a link is followed", err
}

func (b bench) store(ctx context.Context) (string, error) {
	path := filepath.Join(b.state, "sessions.db")
	s, err := sessiondb.Open(ctx, path, sessiondb.Options{})
	if err != nil {
		return "", err
	}
	_, err = s.List(ctx)
	return "opens and lists", errors.Join(err, s.Close())
}

func (b bench) level(ctx context.Context) (string, error) {
	r, err := b.box.Level(ctx)
	switch {
	case err != nil:
		return "", err
	case r.Level == sandbox.NoLevel:
		return "", fmt.Errorf("%w: %s", errNotHere, r.Explanation)
	}
	return string(r.Level) + ", made with " + string(r.Technique), nil
}

// boxed uses a file in the sandbox. The test of the level has tried what must fail there.
func (b bench) boxed(ctx context.Context) (string, error) {
	report, err := b.box.Level(ctx)
	if err != nil || report.Level == sandbox.NoLevel {
		return "", fmt.Errorf("%w: there is no sandbox", errNotHere)
	}
	line, found := "echo changed > file.txt && echo done", "a command writes the workspace"
	if report.Technique == sandbox.Landlock {
		line, found = "cat file.txt && ! echo changed > file.txt && echo done", "a command reads the workspace, and cannot write it"
	}
	r, err := proc.Supervisor{Cage: b.box}.Run(ctx, b.command(line))
	if err == nil {
		err = wants(r, 0, "done")
	}
	return found, err
}

func (b bench) undo(ctx context.Context) (string, error) {
	w, err := undo.Open(undo.Options{Root: b.work, State: filepath.Join(b.state, "undo"), Home: b.home, Excluded: []string{b.state}})
	if errors.Is(err, undo.ErrUnsupported) {
		return "", fmt.Errorf("%w: undo", errNotHere)
	}
	if err != nil {
		return "", err
	}
	defer w.Close()
	path := filepath.Join(b.work, "undone.txt")
	before, err := w.Take(ctx)
	if err == nil {
		err = os.WriteFile(path, []byte("new\n"), 0o600)
	}
	after, err2 := w.Take(ctx)
	if err = errors.Join(err, err2); err != nil {
		return "", err
	}
	plan, err := w.Plan(ctx, false, nil, nil, undo.Window{Before: before, After: after})
	if err == nil {
		_, err = w.Apply(ctx, plan)
	}
	if _, there := os.Stat(path); err == nil && there == nil {
		err = errors.New("a file that was made is still there")
	}
	return "a new file is taken back", err
}
