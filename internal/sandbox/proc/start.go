package proc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/sandbox/proc/shim"
)

// Supervisor starts commands. The zero value works, without a ledger and without walls.
type Supervisor struct {
	Ledger *Ledger
	Cage   Cage // nil means no walls
	// Live is called before the start of a command that changes the folder itself instead of a
	// view. If it returns an error, the command does not start. It may be nil.
	Live func(context.Context, Command) error
}

// Run starts c and waits for it. The error is nil whenever the command could be started; its
// outcome is in the Result.
func (s Supervisor) Run(ctx context.Context, c Command) (Result, error) {
	p, err := s.Start(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(), nil
}

// Start starts c and returns when its program runs or has failed to start. The end of ctx ends the
// command.
func (s Supervisor) Start(ctx context.Context, c Command) (*Process, error) {
	for try := 1; ; try++ {
		if ctx.Err() != nil {
			return nil, failure(CodeAborted, "%s was not started: %w", name(c), context.Cause(ctx))
		}
		p, err := s.start(ctx, c)
		if !errors.As(err, new(noWallsError)) || try == maxPlans {
			return p, err
		}
	}
}

func (s Supervisor) start(ctx context.Context, c Command) (*Process, error) {
	c.Tag = UniqueTag(c.Tag)
	walls, err := enclose(ctx, s.Cage, c)
	if err != nil {
		return nil, err
	}
	if walls.Env != nil {
		c.Env = walls.Env
	}
	p := newProcess(c)
	p.confinement = walls
	if s.Live != nil && !walls.UsesView {
		if err := s.Live(ctx, c); err != nil {
			p.discard()
			return nil, err
		}
	}
	if err := p.prepare(ctx, s); err != nil {
		if walls.Failed != nil && errors.As(err, new(noWallsError)) {
			walls.Failed(err)
		}
		p.discard()
		return nil, err
	}
	p.follow()
	return p, nil
}

// prepare plans the walls, makes the spec and launches the command.
func (p *Process) prepare(ctx context.Context, s Supervisor) error {
	spec, err := p.cmd.spec()
	if err != nil {
		return err
	}
	spec.Box, spec.Dir = p.confinement.Box, cmp.Or(p.confinement.Dir, spec.Dir)
	if own := p.cmd.Memory; own > 0 && (spec.Box.Memory == 0 || own < spec.Box.Memory) {
		spec.Box.Memory = own
	}
	return p.launch(ctx, spec, s.Ledger)
}

// spec resolves the program and checks for errors that the shim could report only as a number.
func (c Command) spec() (shim.Spec, error) {
	if len(c.Argv) == 0 {
		return shim.Spec{}, failure(CodeInvalid, "no program given")
	}
	if info, err := os.Stat(cmp.Or(c.ResolveDir, c.Dir)); err != nil || !info.IsDir() {
		return shim.Spec{}, failure(CodeNotFound, "working directory %s is not there", c.Dir)
	}
	path, err := LookPath(c.Argv[0], c.Dir, c.Env)
	if err != nil {
		return shim.Spec{}, err
	}
	return shim.Spec{
		Path: path, Argv: c.Argv, Dir: c.Dir, Env: marked(c.Env, c.Tag), Linger: c.Linger,
	}, nil
}

// Mark is an environment variable inherited by every process below a shim. It identifies them after
// the shim was killed.
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

// UniqueTag returns a unique tag from which TagOf recovers the given one.
func UniqueTag(tag string) string {
	if tag == "" {
		tag = "call"
	}
	return strings.ReplaceAll(tag, "/", "_") + "-" + rand.Text()[:10]
}

// TagOf returns the tag given at the command's start, from the unique one seen by its cage.
func TagOf(unique string) string {
	if at := strings.LastIndexByte(unique, '-'); at >= 0 {
		return unique[:at]
	}
	return unique
}

func name(c Command) string {
	if len(c.Argv) == 0 {
		return "command"
	}
	return filepath.Base(c.Argv[0])
}

// closeAll closes files; closing one twice is harmless.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// letGo calls Confinement.Done once.
func (p *Process) letGo() (found Findings) {
	if p.confinement.Done != nil {
		found = p.confinement.Done()
		p.confinement.Done = nil
	}
	return found
}

// discard releases a process that could not be started.
func (p *Process) discard() {
	if p.unguard != nil {
		p.unguard()
	}
	if aside := p.letGo().Pending; aside != nil {
		aside.Apply(nil)
	}
	closeAll([]*os.File{p.inPipe, p.outPipe, p.errPipe})
	if p.unrecord != nil {
		p.unrecord()
	}
	p.link.close()
}
