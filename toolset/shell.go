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

// Shell is how a session runs commands. bash, bash_output, bash_kill and list_processes share one.
// Make it with NewShell; the exported fields may be set before the first call.
type Shell struct {
	Supervisor proc.Supervisor
	Env        []string // of every command; see proc.Environ
	// Program is the shell; its zero value is the bash, or sh, that PATH finds.
	Program proc.ShellProgram
	// Timeout is a command's time when the model names none; MaxTimeout is the most it may name.
	Timeout, MaxTimeout time.Duration
	// Spill stores the whole of a long output and returns the path under which the model can read it;
	// if nil, long output is not stored.
	Spill func(tool.CallID) (io.WriteCloser, string, error)
	// Mask hides secrets in what commands write; if nil, none does.
	Mask func() *redact.Stream
	// MayLeave says that a command which a sandbox kept from its work may be offered to a user outside
	// of it.
	MayLeave bool
	// InUse says why a command can only work on the real files, and not on a view of them; if empty,
	// it need not. It is nil where there are no views.
	InUse func(argv []string, dir string) string
	// EndsAtLimit says that a command which meets its time limit is ended, because nobody could read
	// on in the job that it would become.
	EndsAtLimit bool
	// Ran is told of each command that worked on a stage. If nil, nobody is.
	Ran func(RanCommand)
	// Bounds are those of all output.
	Bounds Bounds
	// Now is the clock of durations.
	Now func() time.Time
	// Processes lists this user's processes.
	Processes func() ([]proc.Info, error)

	jobs *proc.Jobs
}

// wait runs a command until it has ended or goes on as a job of a name; if empty, it does not.
func (s *Shell) wait(ctx context.Context, c proc.Command, job string) (r proc.Result, late *proc.Overdue, err error) {
	if job == "" {
		r, err = s.Supervisor.Run(ctx, c)
		return r, nil, err
	}
	return s.jobs.Run(ctx, job, c, nil)
}

// Bounds of a command.
const (
	shellTimeout    = 120 * time.Second
	shellMaxTimeout = 600 * time.Second
	shellLiveTail   = 8 << 10 // bytes
	maxCommand      = 64 << 10
	// maxOutput ends a command that floods: 16 GiB is seconds of a runaway loop and more than
	// anybody reads.
	maxOutput = 16 << 30
	// maxSpill bounds the file that keeps the whole output, in bytes.
	maxSpill = 256 << 20
	// headShown and tailShown are what the model gets of an output whose whole is kept in a file:
	// the end says how it went, and the rest costs tokens in every request that follows.
	headShown, tailShown = 2800, 5200
)

// NewShell makes the shell of one session.
func NewShell(s proc.Supervisor, env []string) *Shell {
	program := proc.FindShell(os.Getenv, env)
	if len(program.Dirs) > 0 {
		env = proc.Before(env, program.Dirs)
	}
	return &Shell{
		Program: program, Supervisor: s, Env: env, Timeout: shellTimeout, MaxTimeout: shellMaxTimeout,
		Now: time.Now, Processes: proc.Processes, jobs: proc.NewJobs(s),
	}
}

// Jobs are what bash started to go on in the background.
func (s *Shell) Jobs() *proc.Jobs { return s.jobs }

// Close ends all background jobs and lets no further one start.
func (s *Shell) Close() { s.jobs.Close() }

// Of a long output the model gets the start and twice as much of the end, which says how it went;
// together less than the pipeline lets through, so that it does not cut a second time.
func (s *Shell) head() int { return s.Bounds.bytes() * 28 / 100 }
func (s *Shell) tail() int { return s.Bounds.bytes() * 64 / 100 }

// Of an output, so many bytes of the start and the end are looked at for repetition before it is
// cut.
const headKept, tailKept = 64 << 10, 192 << 10

// room is how much of an output is shown: little where the whole can be read in a file.
func (s *Shell) room() fold.Room {
	room := fold.Room{Head: s.head(), Tail: s.tail(), HeadLines: s.Bounds.lines() / 4, TailLines: max(1, s.Bounds.lines()*29/40)}
	if s.Spill != nil {
		room.Head, room.Tail = min(headShown, room.Head), min(tailShown, room.Tail)
	}
	return room
}

// argv is the command line under bash without anybody's startup files, or under sh where there is
// no bash. A shell in the workspace is none.
func (s *Shell) argv(command, root string) (argv []string, plain bool) {
	if s.Program.Path != "" {
		return s.Program.Argv(command), false
	}
	bash, err := proc.LookPath("bash", "/", s.Env)
	switch {
	case err == nil && !proc.Inside(filepath.Dir(bash), root):
		bash = "bash" // the first in PATH, so that no other folder of it matters
	case err == nil:
		bash, err = proc.LookPath("bash", "/", proc.Outside(s.Env, root))
	}
	switch {
	case err != nil && proc.Within("sh", root, s.Env) != "":
		return []string{"/bin/sh", "-c", command}, true
	case err != nil:
		return []string{"sh", "-c", command}, true
	}
	return []string{bash, "--noprofile", "--norc", "-c", command}, false
}

// words names the description of bash, which tells the language of the shell.
func (s *Shell) words(f files) string {
	if s.Program.Kind != proc.Bash {
		return "bash_" + string(s.Program.Kind)
	}
	return f.words("bash")
}

// workdir resolves the folder that a command runs in; outside the workspace it is one that the gate
// agreed to.
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

// reaching asks for each host that a command in a sandbox wants to connect to. What goes on when
// its call is over asks nobody any more.
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

// reachingHere asks about a port or socket of this machine.
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

// asFailure gives an error of package proc to the model with its code.
func asFailure(err error) error {
	var coded *proc.Error
	if errors.As(err, &coded) {
		return &tool.Error{Code: coded.Code, Message: coded.Error(), Err: err}
	}
	return err
}

// maxGuarded bounds the repositories that one command line may name.
const maxGuarded = 8

// guard is the environment of a command that a rule allowed and no person has seen: no program is
// found in the workspace, and git runs none that a repository names. Named says that one of the
// repositories has hooks or names programs.
//
// Where all programs of a command only look, git also asks no server, checks no signature and takes
// no lock.
func (b basher) guard(ctx context.Context, command, dir string, judged *tool.Judged) (env []string, named bool) {
	env = asJudged(proc.Outside(b.shell.Env, b.root.Dir()))
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

// asJudged is an environment without what makes programs read their words in another way than they
// were judged: options behind operands as names of files, options that a variable adds, columns
// that a variable names.
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

// judgedText is the script that a gate has read, or the command as it is written.
func judgedText(command string, judged *tool.Judged) string {
	if judged != nil && judged.Script != "" {
		return judged.Script
	}
	return command
}

// repositories are the folders that a git of the command may work in: its own, and every one that a
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
