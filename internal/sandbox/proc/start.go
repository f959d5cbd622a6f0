package proc

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/sandbox/proc/shim"
)

// Supervisor starts commands. The zero value works, keeps no ledger and puts no walls around a
// command.
type Supervisor struct {
	Ledger *Ledger
	Cage   Cage                 // nil: commands can do what the user can
	Watch  func(Command) *Watch // who is told what the command changes; nil, or nil of it: nobody
	// Live is called before a command starts that changes the folder itself, and not a view of it. With
	// an error it does not start. If nil, nobody asks.
	Live  func(context.Context, Command) error
	Spare *Spare // shims for commands without walls; if nil, each gets one of its own
}

// Run starts c and waits for it. The error is nil whenever the command could be started; what
// became of it is in the Result.
func (s Supervisor) Run(ctx context.Context, c Command) (Result, error) {
	p, err := s.Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(), nil
}

// Start starts c and returns when its program runs, or could not be run. When ctx is done the
// command is ended.
func (s Supervisor) Start(ctx context.Context, c Command) (*Process, error) {
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return nil, failure(CodeAborted, "%s was not started: %w", name(c), context.Cause(ctx))
		}
		p, err := s.start(ctx, c)
		if !errors.As(err, new(unboxed)) || try == maxPlans {
			return p, err
		}
	}
}

func (s Supervisor) start(ctx context.Context, c Command) (*Process, error) {
	c.Tag = uniqueTag(c.Tag)
	walls, err := enclose(ctx, s.Cage, c)
	if err != nil {
		return nil, err
	}
	if walls.Env != nil {
		c.Env = walls.Env
	}
	p := newProcess(c)
	p.walls = walls
	if s.Live != nil && !walls.Apart {
		if err := s.Live(ctx, c); err != nil {
			p.discard()
			return nil, err
		}
	}
	if err := p.prepare(ctx, s); err != nil {
		if walls.Failed != nil && errors.As(err, new(unboxed)) {
			walls.Failed(err)
		}
		p.discard()
		return nil, err
	}
	p.follow()
	return p, nil
}

// prepare makes what the shim is told, and launches it.
func (p *Process) prepare(ctx context.Context, s Supervisor) error {
	spec, err := p.cmd.spec()
	if err != nil {
		return err
	}
	spec.Box, spec.Dir = p.walls.Box, cmp.Or(p.walls.Dir, spec.Dir)
	if own := p.cmd.Memory; own > 0 && (spec.Box.Memory == 0 || own < spec.Box.Memory) {
		spec.Box.Memory = own
	}
	if s.Watch != nil {
		p.watch = s.Watch(p.cmd)
	}
	if p.watch != nil {
		spec.Box.Watch = p.watch.Root
	}
	if s.Spare != nil && p.walls.none() && spec.Box.Memory == 0 {
		p.spare, spec.Keep = s.Spare, keeps
	}
	wire, err := spec.Encode()
	if err != nil {
		return &Error{CodeInvalid, err}
	}
	return p.launch(ctx, wire, s.Ledger)
}

// spec resolves the program and checks what the shim could only report as an error number.
func (c Command) spec() (shim.Spec, error) {
	if len(c.Argv) == 0 {
		return shim.Spec{}, failure(CodeInvalid, "no program given")
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return shim.Spec{}, failure(CodeNotFound, "working directory %s is not there", c.Dir)
	}
	path, err := LookPath(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return shim.Spec{}, err
	}
	return shim.Spec{
		Path: path, Argv: c.Argv, Dir: c.Dir, Env: marked(c.Env, c.Tag), Linger: c.Linger, Limits: c.Limits,
	}, nil
}

// Mark is the environment variable that every process below a shim inherits. It finds them again
// when the shim was killed.
const Mark = "ADZE_CALL"

func marked(env []string, tag string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, Mark+"=") {
			out = append(out, kv)
		}
	}
	return append(out, Mark+"="+tag)
}

func uniqueTag(tag string) string {
	if tag == "" {
		tag = "call"
	}
	return strings.ReplaceAll(tag, "/", "_") + "-" + rand.Text()[:10]
}

// TagOf is the tag that a command was started with, by the one that its cage sees.
func TagOf(unique string) string {
	if at := strings.LastIndexByte(unique, '-'); at >= 0 {
		return unique[:at]
	}
	return unique
}

// LookPath finds the program a command names: a name with a slash relative to dir, else the first
// executable in env's PATH. Relative entries of PATH are skipped, so that a workspace cannot put
// its own program first.
func LookPath(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, nil // the start reports what is wrong with it
	}
	for _, folder := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		path := filepath.Join(folder, program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", failure(CodeNotFound, "program %q is not in PATH", program)
}

func lookup(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], key+"="); ok {
			return value
		}
	}
	return ""
}

func name(c Command) string {
	if len(c.Argv) == 0 {
		return "command"
	}
	return filepath.Base(c.Argv[0])
}

// launch gives the command to a shim, records that, and waits for the shim's first line.
func (p *Process) launch(ctx context.Context, wire []byte, ledger *Ledger) error {
	theirs, err := p.openPipes()
	defer closeAll(theirs)
	if err != nil {
		return &Error{CodeIO, err}
	}
	p.started = time.Now()
	sent := p.reuse(wire, theirs)
	if sent == 0 {
		err = p.startShim(theirs)
	}
	if err != nil {
		return err
	}
	closeAll(theirs)
	p.guard(ctx)
	// An error means that the shim was killed; then the status pipe has ended, and follow sees
	// that.
	_, _ = p.lifeline.Write(wire[sent:])
	// The record is written while the shim starts, so that it costs the command no time.
	p.unrecord = ledger.record(p.shim.Pid, p.cmd.Tag)
	return p.firstEvent()
}

// startShim starts one with the streams of the command.
func (p *Process) startShim(streams []*os.File) error {
	theirs, err := p.openLine()
	defer closeAll(theirs)
	if err != nil {
		return &Error{CodeIO, err}
	}
	adoptOrphans()
	program, argv := p.walls.starts([]string{"adze", shim.Word, p.cmd.Tag})
	p.shim, err = os.StartProcess(program, argv, &os.ProcAttr{
		Dir: "/",
		// Nothing of adze's own environment is here, because the command may read it from /proc.
		// The runtime is told its parallelism, so that it need not read the control groups.
		Env:   []string{"GOMAXPROCS=2"},
		Files: slices.Concat(streams, theirs, p.walls.Files),
		Sys:   p.walls.attributes(),
	})
	if err != nil {
		return failure(CodeIO, "cannot start the supervising process: %w", err)
	}
	if p.walls.Born != nil {
		if err := p.walls.Born(p.shim.Pid); err != nil {
			_ = p.shim.Kill()
			return failure(CodeSandbox, "the command was not run, because its sandbox could not be made: %w", err)
		}
	}
	return nil
}

// selfPath names this very binary, also when its file was replaced by a newer version meanwhile.
func selfPath() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// openPipes makes the standard streams of the command and returns its ends.
func (p *Process) openPipes() (theirs []*os.File, err error) {
	theirs = make([]*os.File, 3)
	if p.cmd.Input == nil && p.cmd.Talk == nil {
		theirs[0], err = os.Open(os.DevNull)
	} else {
		theirs[0], p.inPipe, err = os.Pipe()
	}
	if err != nil {
		return theirs, err
	}
	if p.outPipe, theirs[1], err = os.Pipe(); err != nil {
		return theirs, err
	}
	theirs[2] = theirs[1]
	if p.cmd.Separate {
		p.errPipe, theirs[2], err = os.Pipe()
	}
	return theirs, err
}

// openLine makes the lifeline and the status pipe and returns the shim's ends, in the order of its
// descriptors.
func (p *Process) openLine() (theirs []*os.File, err error) {
	theirs = make([]*os.File, 2)
	if p.spare != nil {
		theirs[0], p.lifeline, err = socketPair() // which can carry descriptors
	} else {
		theirs[0], p.lifeline, err = os.Pipe()
	}
	if err != nil {
		return theirs, err
	}
	p.status, theirs[1], err = os.Pipe()
	p.events = bufio.NewReaderSize(p.status, 256)
	return theirs, err
}

// closeAll closes files; closing one twice does no harm.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// letGo tells the cage, once, that nothing of the command is left.
func (p *Process) letGo() (found Findings) {
	if p.walls.Done != nil {
		found = p.walls.Done()
		p.walls.Done = nil
	}
	return found
}

// discard lets go of a process that could not be started.
func (p *Process) discard() {
	if p.unguard != nil {
		p.unguard()
	}
	if aside := p.letGo().Aside; aside != nil {
		aside.Apply(nil)
	}
	p.watch.over()
	closeAll([]*os.File{p.inPipe, p.outPipe, p.errPipe, p.lifeline, p.status})
	if p.unrecord != nil {
		p.unrecord()
	}
	if shim := p.shim; shim != nil {
		go func() { _, _ = shim.Wait() }()
	}
}
