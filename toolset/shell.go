package toolset

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/files/git"
	"adze/internal/sandbox/proc"
	"adze/internal/text/fold"
	"adze/internal/text/redact"
	"adze/tool"
)

// Shell runs a session's commands. bash, bash_output, bash_kill and list_processes share one.
// Create it with NewShell; the exported fields may be set before the first call.
type Shell struct {
	Supervisor proc.Supervisor
	Env        []string // for every command; see proc.Environ
	// Program is the shell; the zero value is bash, or sh, from PATH.
	Program proc.ShellProgram
	// Timeout is the default for a command; MaxTimeout is the model's limit.
	Timeout, MaxTimeout time.Duration
	// Spill stores a long output in full and returns a path for the model; may be nil.
	Spill func(tool.CallID) (io.WriteCloser, string, error)
	// Mask hides secrets in commands' output; may be nil.
	Mask func() *redact.Stream
	// MayLeave allows offering the user to run a blocked command outside the sandbox.
	MayLeave bool
	// InUse returns why a command needs the real files and not a view, or "". It is nil where there
	// are no views.
	InUse func(argv []string, dir string) string
	// EndsAtLimit ends a command at its time limit, because nobody could read the output of a job.
	EndsAtLimit bool
	// OnRun is called for each command run on a stage; may be nil.
	OnRun func(RanCommand)
	// Bounds limit all output.
	Bounds Bounds
	// Now is the clock for durations.
	Now func() time.Time
	// Processes lists this user's processes.
	Processes func() ([]proc.Info, error)

	jobs *proc.Jobs
}

// wait runs a command until it ends or becomes the named job; it becomes none if job is "".
func (s *Shell) wait(ctx context.Context, c proc.Command, job string) (r proc.Result, late *proc.Overdue, err error) {
	if job == "" {
		r, err = s.Supervisor.Run(ctx, c)
		return r, nil, err
	}
	return s.jobs.Run(ctx, job, c, nil)
}

// Limits for a command.
const (
	shellTimeout    = 120 * time.Second
	shellMaxTimeout = 600 * time.Second
	shellLiveTail   = 8 << 10 // bytes
	maxCommand      = 64 << 10
	// maxOutput ends a command that floods: 16 GiB is seconds of a runaway loop and more than
	// anybody reads.
	maxOutput = 16 << 30
	// maxSpill limits the file with the full output, in bytes.
	maxSpill = 256 << 20
	// headShown and tailShown limit the shown output if a file has it in full: the end matters
	// most, and the rest costs tokens in every later request.
	headShown, tailShown = 2800, 5200
)

// NewShell returns the shell for one session.
func NewShell(s proc.Supervisor, env []string) *Shell {
	program := proc.FindShell(os.Getenv, env)
	if len(program.Dirs) > 0 {
		env = proc.PrependPath(env, program.Dirs)
	}
	return &Shell{
		Program: program, Supervisor: s, Env: env, Timeout: shellTimeout, MaxTimeout: shellMaxTimeout,
		Now: time.Now, Processes: proc.Processes, jobs: proc.NewJobs(s),
	}
}

// Jobs returns the background jobs.
func (s *Shell) Jobs() *proc.Jobs { return s.jobs }

// Close ends all background jobs and prevents new ones.
func (s *Shell) Close() { s.jobs.Close() }

// The model gets a long output's start and twice as much of the end, which shows how it went;
// together less than the pipeline's limit, which would cut again.
func (s *Shell) head() int { return s.Bounds.bytes() * 28 / 100 }
func (s *Shell) tail() int { return s.Bounds.bytes() * 64 / 100 }

// Bytes at the start and the end that are searched for repetition before cutting.
const headKept, tailKept = 64 << 10, 192 << 10

// room returns how much output is shown: little if a file has it in full.
func (s *Shell) room() fold.Limits {
	room := fold.Limits{Head: s.head(), Tail: s.tail(), HeadLines: s.Bounds.lines() / 4, TailLines: max(1, s.Bounds.lines()*29/40)}
	if s.Spill != nil {
		room.Head, room.Tail = min(headShown, room.Head), min(tailShown, room.Tail)
	}
	return room
}

// argv returns the command line for bash without startup files, or for sh if there is no bash. A
// shell in the workspace is ignored.
func (s *Shell) argv(command, root string) (argv []string, plain bool) {
	if s.Program.Path != "" {
		return s.Program.Argv(command), false
	}
	bash, err := proc.LookPath("bash", "/", s.Env)
	switch {
	case err == nil && !proc.InDir(filepath.Dir(bash), root):
		bash = "bash" // the first in PATH, so that its other folders do not matter
	case err == nil:
		bash, err = proc.LookPath("bash", "/", proc.WithoutPathsIn(s.Env, root))
	}
	switch {
	case err != nil && proc.ProgramIn("sh", root, s.Env) != "":
		return []string{"/bin/sh", "-c", command}, true
	case err != nil:
		return []string{"sh", "-c", command}, true
	}
	return []string{bash, "--noprofile", "--norc", "-c", command}, false
}

// words returns the name of bash's description, which depends on the shell.
func (s *Shell) words(f files) string {
	if s.Program.Kind != proc.Bash {
		return "bash_" + string(s.Program.Kind)
	}
	return f.words("bash")
}

// workdir resolves a command's folder; outside the workspace the gate must have allowed it.
func (f files) workdir(ctx context.Context, ask asker, name string) (string, error) {
	if name == "" {
		return f.root.Dir(), nil
	}
	p, err := f.locate(ctx, ask, tool.Read, name)
	switch {
	case err != nil:
		return "", err
	case !p.Exists():
		return "", tool.Fail(tool.CodeNotFound, "workdir %s does not exist%s", brief(name), orSimilar(f.root.Similar(p)))
	}
	if info, err := f.root.Stat(p); err == nil && !info.Mode.IsDir() {
		return "", tool.Fail(tool.CodeInvalidArguments, "workdir %s is not a folder; name one, or leave it out", name)
	}
	return p.Abs(), nil
}

// reaching asks for each host that a sandboxed command connects to. After the call it refuses
// without asking.
func reaching(ask asker) func(context.Context, string, uint16) error {
	return func(ctx context.Context, host string, port uint16) error {
		scheme, place := "https", host
		switch port {
		case 80:
			scheme = "http"
		case 443:
		default:
			place = net.JoinHostPort(host, strconv.Itoa(int(port)))
		}
		if strings.Contains(host, ":") && place == host {
			place = "[" + host + "]"
		}
		return ask(ctx, tool.Need{Permission: tool.Network, Target: scheme + "://" + place})
	}
}

// reachingHere asks about a port or socket on this machine.
func reachingHere(ask asker) func(context.Context, string) error {
	return func(ctx context.Context, place string) error {
		return ask(ctx, tool.Need{Permission: tool.Network, Target: place})
	}
}

func orSimilar(names []string) string {
	if len(names) == 0 {
		return "; list shows what is there"
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// asFailure adds the code to an error from package proc.
func asFailure(err error) error {
	var coded *proc.Error
	if errors.As(err, &coded) {
		return &tool.Error{Code: coded.Code, Message: coded.Error(), Err: err}
	}
	return err
}

const maxGuarded = 8

// guard returns the environment for a command that a rule allowed unseen: it finds no program in
// the workspace, and git runs none that a repository names. named reports whether a repository has
// hooks or names programs.
//
// If all programs in a command are read-only, git also asks no server, checks no signature and
// takes no lock.
func (b basher) guard(ctx context.Context, command, dir string, judged *tool.CommandReading) (env []string, named bool) {
	env = asJudged(proc.WithoutPathsIn(b.shell.Env, b.root.Dir()))
	looks := judged != nil && judged.Looks
	if !strings.Contains(command, "git") && !looks {
		return env, false
	}
	g := git.Git{Supervisor: b.shell.Supervisor, Env: env}
	if looks {
		env = git.Quiet(env)
	}
	if looks && !judged.Git && !strings.Contains(command, "go") {
		return env, false
	}
	settings, named := g.Guard(ctx, looks, repositories(command, dir)...)
	return append(env, settings...), named && !looks
}

// asJudged removes variables that make programs read their arguments differently from the judged
// form: options after operands as file names, added options, column settings.
func asJudged(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "POSIXLY_CORRECT", "_POSIX2_VERSION", "RIPGREP_CONFIG_PATH", "GZIP", "UNZIP", "UNZIPOPT", "ZIPINFO", "ZIPINFOOPT",
			"PS_PERSONALITY", "PS_FORMAT", "CMD_ENV", "I_WANT_A_BROKEN_PS", "FILE_OPTS", "MAGIC", "AWKPATH", "AWKLIBPATH":
			return true
		}
		return false
	})
}

// judgedText returns the gate's script, or the command as written.
func judgedText(command string, judged *tool.CommandReading) string {
	if judged != nil && judged.Script != "" {
		return judged.Script
	}
	return command
}

// repositories returns the folders that git in the command may use: its own, and each one that a
// word names.
func repositories(command, dir string) []string {
	dirs := []string{dir}
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&='\"", r) })
	for _, word := range words {
		if !filepath.IsAbs(word) {
			word = filepath.Join(dir, word)
		}
		if info, err := os.Stat(word); err == nil && info.IsDir() && len(dirs) < maxGuarded {
			dirs = append(dirs, word)
		}
	}
	return dirs
}
