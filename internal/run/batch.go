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

// batches is what adze batch asks of the program.
type batches struct{ *process.Process }

// Runner does tasks with what it needs of this program.
func (a batches) Runner() (*batch.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	r := &batch.Runner{Program: self, Env: proc.Outside(os.Environ(), here), Keys: a.Ring.Taken(), Gate: gateFlags, MaxTime: a.maxTime, Gone: a.gone}
	if seen, _ := a.Operators.Of(a.Getenv); seen != nil { // its children tell what cannot be sent
		r.Begin = seen.Task
	}
	return r, nil
}

// gone removes what adze keeps of a folder that was a task's clone.
func (a batches) gone(clone string) { _ = sandbox.Forget(paths.Of(a.Getenv).State, clone) } // what cannot be removed stays

// flagsOfTasks are the flags of a run that a task's adze takes. The batch decides all others
// itself, or they need a user.
func flagsOfTasks() []string {
	return []string{"model", "effort", "agent", "permission-mode", "yolo", "sandbox", "allow", "ask", "deny", "tools", "no-tools", "max-turns", "max-calls", "max-tokens",
		"max-cost", "max-time", "output-schema", "system-prompt", "append-system-prompt", "attach", "bare", "try", "try-patch", "fail-on-deny", "task-complete"}
}

// RunFlags says what is wrong with flags that a task's adze gets.
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

// gateFlags takes from flags of a run those that adze tools run knows, too.
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

// Server connects to a server; an empty address is that of the environment.
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

// Bounds of the disk from which on a worker takes a task.
const (
	leastRoom  = 200 << 20 // bytes
	leastFiles = 10_000    // where the disk can have so many and no more
)

// Worker makes a worker of this machine, and what ends it. Its clones are not below adze's own
// folders, where no task may write.
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
	host, _ := os.Hostname() // without one its process id names it
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
	w.Room = func() error {
		free, files, err := room(runner.Dir)
		if err == nil && (free < leastRoom || files < leastFiles) {
			err = fmt.Errorf("the disk of %s has %d MB and room for %d files free, and tasks are taken from %d MB and %d files on; make room", runner.Dir, free>>20, files, leastRoom>>20, leastFiles)
		}
		return err
	}
	return w, done, nil
}

// claim takes a folder below dir for a worker, and removes those of workers that are gone.
func (a batches) claim(dir string) (own string, done func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	// Only one worker claims at a time: another one would take a lock that is made but not held
	// yet for one that is left.
	claimed, err := filelock.Wait(context.Background(), filepath.Join(dir, "claiming"))
	if err != nil {
		return "", nil, err
	}
	defer claimed()
	old, _ := filepath.Glob(filepath.Join(dir, "*.lock")) // the pattern is sound
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
	return own, func() { // what stays is removed by the next worker
		_ = os.RemoveAll(own)
		_ = os.Remove(own + ".lock")
		unlock()
	}, nil
}

// containers is what helps in a container.
const containers = "in a container it needs user namespaces: with Kubernetes hostUsers: false and in the securityContext seccompProfile and appArmorProfile of type Unconfined and " +
	"procMount: Unmasked; with docker security_opt seccomp=unconfined, apparmor=unconfined and systempaths=unconfined"

// order puts levels of the sandbox in an order.
func order(l sandbox.Level) int {
	return slices.Index([]sandbox.Level{sandbox.NoLevel, sandbox.Degraded, sandbox.FullLive, sandbox.Full}, l)
}

// reaches finds out how much the sandbox holds here, and returns an error where that is below a
// level; empty stands for full.
func (a batches) reaches(level string) (sandbox.Report, error) {
	want := cmp.Or(sandbox.Level(level), sandbox.Full)
	if order(want) < 0 {
		return sandbox.Report{}, usage.Mistake("full, degraded or none", "--sandbox-level is %q", level)
	}
	if want == sandbox.NoLevel { // each task's adze looks for itself
		return sandbox.Report{Level: sandbox.Full}, nil
	}
	at := paths.Of(a.Getenv)
	box := sandbox.Of(at.State, at.State, at.Config)
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
	return r, usage.Mistake(hint, "the sandbox reaches the level %s here (%s), and tasks in mode auto are refused what it cannot hold", r.Level, r.How)
}

// limits returns what a worker admits by its flags and by the file of the machine's owner.
func (a batches) limits(l fleet.Limits) (fleet.Limits, error) {
	for i, dir := range l.Folders {
		l.Folders[i] = paths.Absolute(dir)
	}
	managed, err := config.LoadManaged(paths.Of(a.Getenv).Managed)
	if err != nil || managed.Worker == nil {
		return l, err
	}
	if l, err = l.Within(fleet.Limits(*managed.Worker)); err != nil {
		err = usage.Mistake("leave it out, or ask the owner, whose file is "+managed.Path, "%v", err)
	}
	return l, err
}

// maxTime returns how long a prompt of a task may take, by its flags or the configuration.
func (a batches) maxTime(words []string) time.Duration {
	if o, _, _, err := flags.Parse(words); err == nil && o.MaxTime > 0 {
		return o.MaxTime
	}
	cfg, err := a.Ring.Load(a.ConfigFile())
	if err != nil {
		return 0 // the prompt fails by that
	}
	return time.Duration(cfg.MaxTime)
}
