package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/osfile/filelock"
	"adze/internal/policy/policyconfig"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/text/usage"
)

// batches implements the program's part for adze batch.
type batches struct{ *process.Process }

// Runner returns a task runner.
func (a batches) Runner() (*batch.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	r := &batch.Runner{Program: self, Env: proc.WithoutPathsIn(os.Environ(), here), Keys: a.Ring.Removed(), Gate: gateFlags, MaxTime: a.maxTime, OnRemoved: a.gone}
	if seen, _ := a.Operators.Telemetry(a.Getenv); seen != nil { // its children report telemetry that cannot be sent
		r.Begin = seen.Task
	}
	return r, nil
}

// gone removes adze's data about a task's clone.
func (a batches) gone(clone string) { _ = sandbox.Forget(paths.FromEnv(a.Getenv).State, clone) } // leftovers are harmless

// flagsOfTasks returns the run flags permitted for a task. The batch sets all others itself, or
// they need a user.
func flagsOfTasks() []string {
	return []string{"model", "effort", "agent", "permission-mode", "yolo", "sandbox", "allow", "ask", "deny", "tools", "no-tools", "max-turns", "max-calls", "max-tokens",
		"max-cost", "max-time", "output-schema", "system-prompt", "append-system-prompt", "attach", "bare", "try", "try-patch", "fail-on-deny", "task-complete"}
}

// RunFlags checks a task's flags.
func (a batches) RunFlags(words []string) error {
	const hint = "adze --help lists the flags of a run"
	o, given, rest, err := flags.Parse(words)
	switch other := slices.IndexFunc(given, func(name string) bool { return !slices.Contains(flagsOfTasks(), name) }); {
	case err != nil:
		return usage.Mistake(hint, "%v", err)
	case len(rest) > 0:
		return usage.Mistake(hint, "%q is not a flag", rest[0])
	case other >= 0:
		return usage.Mistake("leave it out", "--%s is not for a task of a batch", given[other])
	}
	o.Print = true
	return o.Check()
}

// gateFlags returns the flags that adze tools run also accepts.
func gateFlags(words []string) (out []string) {
	o, given, _, err := flags.Parse(words)
	if err != nil {
		return nil // checked before
	}
	known := &cobra.Command{}
	(&policyconfig.Flags{}).Add(known)
	for _, flag := range []struct {
		name   string
		values []string
	}{{"permission-mode", []string{o.Mode}}, {"sandbox", []string{o.Sandbox}}, {"allow", o.Allow}, {"ask", o.Asks}, {"deny", o.Deny}} {
		if !slices.Contains(given, flag.name) || known.Flags().Lookup(flag.name) == nil {
			continue
		}
		for _, v := range flag.values {
			out = append(out, "--"+flag.name+"="+v)
		}
	}
	return out
}

// Server connects to a server; an empty address means the one from the environment.
func (a batches) Server(ctx context.Context, on string) (*fleet.Server, error) {
	o, err := fleet.FromEnvironment(on, a.Getenv)
	if err == nil && o.URL == "" {
		return nil, usage.Mistake("add --on nats://HOST:PORT, or set ADZE_NATS", "no server is named")
	}
	var s *fleet.Server
	if err == nil {
		s, err = fleet.Connect(ctx, o)
	}
	if errors.Is(err, fleet.ErrAddress) || errors.Is(err, fleet.ErrRefused) && s == nil && strings.Contains(err.Error(), "lets nobody in") {
		return nil, usage.Mistake("mend --on, or what ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS names", "%v", err)
	}
	return s, err
}

// Free disk space that a worker needs to accept a task.
const (
	leastRoom  = 200 << 20 // bytes
	leastFiles = 10_000    // on file systems with a limited number of files
)

// Worker returns a worker for this machine, and a function that ends it. Its clones are outside
// adze's own folders, where tasks cannot write.
func (a batches) Worker(s *fleet.Server, below, level string, limits fleet.Limits) (*fleet.Worker, func(), error) {
	limits, err := a.limits(limits)
	if err != nil {
		return nil, nil, err
	}
	has, err := a.reaches(level)
	if err != nil {
		return nil, nil, err
	}
	if below == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, nil, usage.Mistake("add --dir DIR", "there is no folder for clones: %v", err)
		}
		below = filepath.Join(cache, "adze", "workers")
	}
	runner, err := a.Runner()
	if err != nil {
		return nil, nil, err
	}
	var done func()
	if runner.Dir, done, err = a.claim(paths.Absolute(below)); err != nil {
		return nil, nil, err
	}
	host, _ := os.Hostname() // the process id is enough
	w := &fleet.Worker{Server: s, Name: fmt.Sprintf("%s-%d", cmp.Or(host, "worker"), os.Getpid()), Version: Version, Runner: runner, Redact: a.Ring.Mask().JSON, Export: runner.Export}
	w.Refuses = func(t batch.Task, words []string) error {
		o, given, _, err := flags.Parse(words)
		if err != nil {
			return fmt.Errorf("the worker runs adze %s, which does not know a flag of the task: %w", Version, err)
		}
		if o.Sandbox == config.SandboxRequired && order(has.Level) < order(sandbox.Full) {
			return fmt.Errorf("the task requires a sandbox, and that of the worker has the level %s; %s", has.Level, containers)
		}
		return limits.Refuses(t, fleet.Asked{Mode: o.Mode, Sandbox: o.Sandbox, Rules: o.Allow, Flags: given})
	}
	w.CheckCapacity = func() error {
		free, files, err := room(runner.Dir)
		if err == nil && (free < leastRoom || files < leastFiles) {
			err = fmt.Errorf("the disk of %s has %d MB and room for %d files free, and tasks are taken from %d MB and %d files on; make room", runner.Dir, free>>20, files, leastRoom>>20, leastFiles)
		}
		return err
	}
	return w, done, nil
}

// claim creates a worker's folder below dir and removes those left by ended workers.
func (a batches) claim(dir string) (own string, done func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	// One worker at a time: another would mistake a lock that is created but not yet held for an
	// abandoned one.
	claimed, err := filelock.Wait(context.Background(), filepath.Join(dir, "claiming"))
	if err != nil {
		return "", nil, err
	}
	defer claimed()
	old, _ := filepath.Glob(filepath.Join(dir, "*.lock")) // the pattern is valid
	for _, lock := range old {
		free, err := filelock.Try(lock)
		if err != nil {
			continue // its worker runs
		}
		left := strings.TrimSuffix(lock, ".lock")
		clones, _ := filepath.Glob(filepath.Join(left, "*", "repository"))
		for _, clone := range clones {
			if real, err := filepath.EvalSymlinks(clone); err == nil {
				a.gone(real)
			}
		}
		err = errors.Join(os.RemoveAll(left), os.Remove(lock))
		if free(); err != nil {
			return "", nil, err
		}
	}
	if own, err = os.MkdirTemp(dir, "w"); err != nil {
		return "", nil, err
	}
	unlock, err := filelock.Try(own + ".lock")
	if err != nil {
		return "", nil, err
	}
	return own, func() { // the next worker removes leftovers
		_ = os.RemoveAll(own)
		_ = os.Remove(own + ".lock")
		unlock()
	}, nil
}

// containers is the advice for containers.
const containers = "in a container it needs user namespaces: with Kubernetes hostUsers: false and in the securityContext seccompProfile and appArmorProfile of type Unconfined and " +
	"procMount: Unmasked; with docker security_opt seccomp=unconfined, apparmor=unconfined and systempaths=unconfined"

// order returns a sandbox level's rank.
func order(l sandbox.Level) int {
	return slices.Index([]sandbox.Level{sandbox.NoLevel, sandbox.Degraded, sandbox.FullLive, sandbox.Full}, l)
}

// reaches tests the sandbox and returns an error if its level is below the given one; empty means
// full.
func (a batches) reaches(level string) (sandbox.Report, error) {
	want := cmp.Or(sandbox.Level(level), sandbox.Full)
	if order(want) < 0 {
		return sandbox.Report{}, usage.Mistake("full, degraded or none", "--sandbox-level is %q", level)
	}
	if want == sandbox.NoLevel { // each task's adze checks for itself
		return sandbox.Report{Level: sandbox.Full}, nil
	}
	at := paths.FromEnv(a.Getenv)
	box := sandbox.ForWorkspace(at.State, at.State, at.Config)
	defer box.Close()
	r, err := box.Level(context.Background())
	if err != nil {
		return r, fmt.Errorf("the sandbox could not be tested: %w", err)
	}
	if want == sandbox.Full && r.Level == sandbox.FullLive || order(r.Level) >= order(want) {
		return r, nil
	}
	hint := containers + "; or start it with --sandbox-level " + string(r.Level)
	if own := sandbox.Hint(r); own != "" {
		hint = own + "; " + hint
	}
	return r, usage.Mistake(hint, "the sandbox reaches the level %s here (%s), and tasks in mode auto are refused what it cannot hold", r.Level, r.Explanation)
}

// limits combines a worker's flags with the machine owner's file.
func (a batches) limits(l fleet.Limits) (fleet.Limits, error) {
	for i, dir := range l.Folders {
		l.Folders[i] = paths.Absolute(dir)
	}
	managed, err := config.LoadManaged(paths.FromEnv(a.Getenv).Managed)
	if err != nil || managed.Worker == nil {
		return l, err
	}
	if l, err = l.RestrictTo(fleet.Limits(*managed.Worker)); err != nil {
		err = usage.Mistake("leave it out, or ask the owner, whose file is "+managed.Path, "%v", err)
	}
	return l, err
}

// maxTime returns the time limit for a task's prompt, from its flags or the configuration.
func (a batches) maxTime(words []string) time.Duration {
	if o, _, _, err := flags.Parse(words); err == nil && o.MaxTime > 0 {
		return o.MaxTime
	}
	cfg, err := a.Ring.Load(a.ConfigFile())
	if err != nil {
		return 0 // the prompt will report the error
	}
	return time.Duration(cfg.MaxTime)
}
