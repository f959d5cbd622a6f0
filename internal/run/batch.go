package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	batchCmd "adze/internal/cmd/batch"
	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/fleet/natsclient"
	"adze/internal/fleet/natsqueue"
	"adze/internal/policy/policyconfig"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/natsstore"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/usage"
	"adze/internal/undo/recorder"
	"adze/session"
)

// batches is what adze batch asks of the program.
type batches struct{ *process.Process }

// Batch makes a batch with what it needs of this program.
func (a batches) Batch() (*batch.Batch, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	b := &batch.Batch{
		Mirrors: filepath.Join(paths.Of(a.Getenv).State, "mirrors"), Program: self, Env: proc.Outside(os.Environ(), here), Keys: a.Ring.Taken(),
		Gate: gateFlags, MaxTime: a.maxTime, SaveAfter: 2 * time.Second, Sessions: a, Gone: a.gone,
	}
	if cfg, err := a.Ring.Load(a.ConfigFile()); err == nil {
		b.Quota = int64(cfg.Batch.MirrorsMB) << 20
	}
	if seen, _ := a.Operators.Of(a.Getenv); seen != nil { // its children tell what cannot be sent
		b.Observer = seen
	}
	return b, nil
}

// gone removes what adze keeps of a folder that was a task's clone.
func (a batches) gone(clone string) {
	at := paths.Of(a.Getenv)
	_ = os.RemoveAll(recorder.Store(at.Undo, clone)) // of an earlier version; what cannot be removed stays
	_ = sandbox.Forget(at.State, clone)
}

// dropOutputs removes the whole outputs of a session that a server keeps.
func (a batches) dropOutputs(id session.ID) {
	if name := string(id); filepath.Base(name) == name && filepath.IsLocal(name) {
		_ = os.RemoveAll(filepath.Join(paths.Of(a.Getenv).Spill, name)) // what cannot be removed stays
	}
}

// abandoned removes what adze keeps of the clones and sessions of a worker that was killed.
func (a batches) abandoned(worker string) {
	clones, _ := filepath.Glob(filepath.Join(worker, "*", "work", "*", "repository")) // the pattern is sound
	for _, clone := range clones {
		if real, err := filepath.EvalSymlinks(clone); err == nil {
			clone = real
		}
		a.gone(clone)
	}
	runs, _ := os.ReadDir(worker)
	for _, run := range runs {
		for _, id := range (fleet.Run{ID: run.Name()}).Sessions() {
			a.dropOutputs(id)
		}
	}
}

// Listen answers for health, readiness and figures while a batch or a worker runs.
func (a batches) Listen(address string, ready func() error) (stop func(), err error) {
	return a.Operators.Listen(address, ready)
}

// flagsOfTasks are the flags of a run that a task's adze takes. The batch decides all others
// itself, or they need a user.
func flagsOfTasks() []string {
	return []string{"model", "effort", "agent", "permission-mode", "sandbox", "allow", "ask", "deny", "tools", "no-tools", "max-turns", "max-calls", "max-tokens",
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

// Last is the newest session that was begun in a folder since then, and how its last turn ended.
func (a batches) Last(ctx context.Context, dir string, since time.Time) (id session.ID, last *session.Result, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	err = a.Store(ctx, func(s *sessiondb.Store) error {
		heads, _, err := s.Page(ctx, sessiondb.Filter{Folder: dir, Since: since})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(heads, func(h session.Head) bool {
			info := h.Info()
			return info.Cwd == dir && info.Agent == "" && !h.Created.Before(since)
		})
		if at < 0 {
			return nil
		}
		id = heads[at].ID
		entries, err := s.Load(ctx, id)
		last = howEnded(entries)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	return id, last, err
}

// howEnded is how the last turn of a log ended, with the cost of all; if nil, it has not.
func howEnded(entries []session.Entry) *session.Result {
	var last *session.Result
	sum := 0.0
	for _, entry := range entries {
		switch entry.Type {
		case session.EndEntry:
			r := &session.Result{}
			if json.Unmarshal(entry.Data, r) != nil {
				continue
			}
			if last = r; r.Cost != nil {
				sum += *r.Cost
				last.Cost = &sum
			}
		case session.MessageEntry, session.OutcomeEntry:
			last = nil
		}
	}
	return last
}

// Fleet connects to a server; an empty address is that of the environment.
func (a batches) Fleet(ctx context.Context, on string) (*batchCmd.Fleet, error) {
	o := natsclient.FromEnvironment(natsclient.Options{URL: on}, a.Getenv)
	if o.URL == "" {
		return nil, usage.Mistake("add --on nats://HOST:PORT, or set ADZE_NATS", "no server is named")
	}
	conn, err := natsclient.Dial(ctx, o)
	if errors.Is(err, natsclient.ErrAddress) || errors.Is(err, natsclient.ErrRefused) {
		return nil, usage.Mistake("mend --on, or what ADZE_NATS_TOKEN_FILE or ADZE_NATS_CREDS names", "%v", err)
	}
	if err != nil {
		return nil, absent(err)
	}
	c, err := natsqueue.Open(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, absent(err)
	}
	return &batchCmd.Fleet{Cluster: c, Name: o.URL, Close: conn.Close, Durability: conn.Durability(ctx).String(), Sessions: []string{"--store", o.URL}, Rules: a.keep(),
		Logs: func(ctx context.Context) (retention.Logs, func(), error) {
			logs, err := natsstore.Open(ctx, conn, false, natsstore.Options{})
			if err != nil {
				return nil, nil, err
			}
			return logs, func() { _ = logs.Close() }, nil
		}}, nil
}

// keepDays is how long servers keep what is over, where the configuration says nothing.
const keepDays = 30

// keep is how long servers keep what is over.
func (a batches) keep() retention.Rules {
	days := keepDays
	if cfg, err := a.Ring.Load(a.ConfigFile()); err == nil && cfg.Batch.KeepDays != 0 {
		days = cfg.Batch.KeepDays
	}
	return retention.Rules{Age: time.Duration(max(days, 0)) * 24 * time.Hour}
}

// absent marks an error as fleet.ErrAway where no server answered; what it says stays.
func absent(err error) error {
	if errors.Is(err, natsclient.ErrUnreachable) {
		return unanswered{err}
	}
	return err
}

type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func (u unanswered) Is(target error) bool { return target == fleet.ErrAway }

// What is to be free of the disk before a worker takes a task.
const (
	leastRoom  = 200 << 20 // bytes
	leastFiles = 10_000    // where the disk can have so many and no more
)

// Worker makes a worker of this machine, and what ends it.
//
// Its clones are not below adze's own folders, where no task may write.
func (a batches) Worker(f *batchCmd.Fleet, below, level string, admits fleet.Admission) (*fleet.Worker, func(), error) {
	admits, err := a.admission(admits)
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
	dir, done, err := fleet.Claim(paths.Absolute(below), a.abandoned)
	if err != nil {
		return nil, nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	mask := a.Ring.Mask()
	w := fleet.NewWorker(f.Cluster, fmt.Sprintf("%s-%d", host, os.Getpid()), fleet.Clones{New: a.Batch, Dir: dir, Env: []string{"ADZE_STORE=" + f.Name},
		Sessions: func(id string) batch.Sessions { return oneSession{a, f.Name, session.ID(id)} },
		Outputs:  a.dropOutputs})
	a.Operators.Worker(w)
	w.Redact, w.RedactJSON, w.Version = mask.Text, mask.JSON, Version
	w.Refuses = func(t batch.Task, flags []string) error {
		asked, err := a.asked(flags)
		if err != nil {
			return fmt.Errorf("%w: %w", fleet.ErrUnknown, err)
		}
		if asked.Sandbox == config.SandboxRequired && order(has.Level) < order(sandbox.Full) {
			return fmt.Errorf("the task requires a sandbox, and that of the worker has the level %s; %s", has.Level, containers)
		}
		return admits.Refuses(t, asked)
	}
	w.Cap = func(flags []string) float64 { return a.flags(flags).MaxCost }
	w.Key = func(flags []string) string { return a.keyOf(a.flags(flags).Model) }
	w.Room = func() error {
		free, files, err := room(dir)
		switch {
		case err != nil:
			return err
		case free < leastRoom:
			return fmt.Errorf("the disk of %s has %d MB free, and tasks are taken from %d MB on; make room", dir, free>>20, leastRoom>>20)
		case files < leastFiles:
			return fmt.Errorf("the disk of %s has room for %d more files, and tasks are taken from %d on; make room", dir, files, leastFiles)
		}
		return nil
	}
	return w, func() { // what stays is removed by the next worker
		_ = os.RemoveAll(dir)
		_ = os.Remove(dir + ".lock")
		done()
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

// admission returns what a worker admits by its flags and by the file of the machine's owner.
func (a batches) admission(admits fleet.Admission) (fleet.Admission, error) {
	for i, dir := range admits.Folders {
		admits.Folders[i] = paths.Absolute(dir)
	}
	managed, err := config.LoadManaged(paths.Of(a.Getenv).Managed)
	if err != nil || managed.Worker == nil {
		return admits, err
	}
	if admits, err = admits.Within(fleet.Admission(*managed.Worker)); err != nil {
		err = usage.Mistake("leave it out, or ask the owner, whose file is "+managed.Path, "%v", err)
	}
	return admits, err
}

// asked returns what flags of a task ask for. Flags of another version of adze are an error.
func (a batches) asked(words []string) (asked fleet.Asked, err error) {
	o, given, _, err := flags.Parse(words)
	if err != nil {
		return asked, err
	}
	return fleet.Asked{Mode: o.Mode, Sandbox: o.Sandbox, Rules: o.Allow, Flags: given}, nil
}

// flags reads flags of a run that were checked before.
func (a batches) flags(words []string) flags.Run {
	o, _, _, _ := flags.Parse(words) // what another version of adze let in counts as far as it is read
	return o
}

// maxTime returns how long a prompt of a task may take, by its flags or the configuration.
func (a batches) maxTime(flags []string) time.Duration {
	if most := a.flags(flags).MaxTime; most > 0 {
		return most
	}
	cfg, err := a.Ring.Load(a.ConfigFile())
	if err != nil {
		return 0 // the prompt fails by that
	}
	return time.Duration(cfg.MaxTime)
}

// keyOf is what a provider knows this machine by, without the key itself: workers with the same one
// pause together.
func (a batches) keyOf(model string) string {
	cfg, err := a.Ring.Load(a.ConfigFile())
	if err != nil {
		return ""
	}
	provider, _, _ := strings.Cut(cmp.Or(model, cfg.Model, "default"), "/")
	key, err := a.Ring.Key(provider, "")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(provider + "\n" + cmp.Or(key, a.Getenv(strings.ToUpper(provider)+"_API_KEY"))))
	return hex.EncodeToString(sum[:8])
}

// oneSession is that of a run, on the server that all workers share.
type oneSession struct {
	of  batches
	url string
	id  session.ID
}

// Last is how far the session is; it was begun as soon as it has an entry.
func (o oneSession) Last(ctx context.Context, _ string, _ time.Time) (id session.ID, last *session.Result, err error) {
	logs, err := o.of.Remote.Open(ctx, o.url, o.of.Getenv, natsstore.Options{})
	if err != nil {
		return "", nil, err
	}
	defer logs.Close()
	entries, err := logs.Load(ctx, o.id)
	if errors.Is(err, session.ErrNotFound) {
		return "", nil, nil
	}
	return o.id, howEnded(entries), err
}
