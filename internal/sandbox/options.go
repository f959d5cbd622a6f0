// Package sandbox decides what a command can reach, and puts it there through the shim that
// supervises it (internal/sandbox/proc).
//
// Permissions decide what is attempted; a sandbox decides what is possible. Inside, the whole file
// tree is read only but for the workspace and a private /tmp; homes and other places of users are
// empty but for what is allowed (home.go); what would make other programs run something later
// (hooks and configuration of git, folders of editors) is read only even where it does not exist
// yet; there is no network but through a proxy that asks, no other process, no way to the kernel's
// keys, namespaces and mounts.
//
// A foreground command changes a view of the workspace (package overlay, view.go), where the kernel
// makes one. When it has ended, each change is judged (judge.go, judge_git.go) and applied, or left
// out and told. So nothing that it names, renames or hides while it runs is met by another program,
// and what others change meanwhile is not taken for its work. Jobs, and all commands where there
// can be no view, change the workspace itself, so that watchers are told of changes (live.go):
// level "full, live". Folders of git are read only to them; what else was planted is looked for
// when such a command has ended (survey.go). A command beside a job
// keeps its view: it may not see all that the job makes meanwhile, and the job sees what it changed
// when it has ended, but it needs no question.
//
// Two means make that, and a self-test, not their names, says how good they are: namespaces of our
// own (ns), or rules of the kernel for files (landlock). Landlock is never more than degraded. It
// can have no read-only place in a writable folder, so the workspace is read only to the command.
// On macOS it is a profile (seatbelt).
//
// The one rule: a command runs in the sandbox that was reported, or not at all.
//
// Start reading at Sandbox and Cage, then plan.go (what a command may reach), home.go, settings.go
// and denies.go (what of users it sees), view.go, level.go (how good it is), survey.go (what is
// looked at when a command has ended), refused.go
// (what it failed of because of the sandbox), and a file for each means. What carries it out is in
// internal/sandbox/proc/shim/namespace.
//
// Known limits:
//   - With Landlock, a file that a command makes beside a hidden one at the top of the workspace
//     cannot be read back by it.
//   - With Landlock there is no network, not even loopback.
//   - Programs reach the network through variables that most of them read; those that do not (Java,
//     ssh, most database clients) reach nothing. What is sent to a host that was allowed is not
//     looked at.
//   - A server inside sees the supervising process as the one that connects to its socket
//     (SO_PEERCRED), with the command's user. Datagram sockets of this machine cannot be made, nor
//     pairs of them.
//   - Without rights over its network (Landlock; not as root) the supervisor
//     cannot serve programs that keep others out of their memory: ssh-agent and gpg-agent then are
//     not reached, even if the command started them. The same holds for sockets on file systems
//     with inode numbers above 32 bits. Landlock leaves no abstract sockets.
//   - FIFOs elsewhere can be read, and before Linux 5.19, or without Landlock, be written: then the
//     level is not full.
//   - A server of the command in the workspace can be reached from outside by who looks for a
//     socket there.
//   - What a command could not read is a hint that goes by names (missed.go), and no reason to
//     offer it outside.
//   - A deny rule (denies.go) hides what matches when a command starts, and not what comes to match
//     while it runs, another hard link, or what git's objects keep of a file. A rule for any folder
//     (**/x) is looked up in the workspace and in what the user shows. Without a view a file that
//     is replaced while a command runs is seen by it.
//   - Memory that belongs to no process (memfd) is not counted.
//   - As root, all of /proc is read only: no program sets its oom_score_adj, say.
//   - On the live tree editors' folders are protected at the top of the workspace only, and a new
//     repository that would make git run something is put aside when the command has ended: until
//     then the user's own programs may meet it. That holds, too, for the place of a submodule that
//     the user checks out meanwhile, and for a .git folder that the user replaces.
//   - A command on the live tree cannot commit.
//   - In a view the kernel renames no folder that was there before (EXDEV). The shim does it
//     instead, one entry after the other, where it is told of calls; else mv copies it and git mv
//     fails. A name that a command has looked up in vain may stay missing for it when somebody else
//     makes it. A program outside that has a file open keeps the old one when a command has changed
//     it, and locks on a file do not reach from one to the other.
//   - In a view of a user whose files belong to several groups some cannot be changed (EOVERFLOW).
//     Folders of other owners are seen, and mean no view; single files are not.
//   - Which scripts git runs is read from its settings as they are when a command has ended; a
//     script that such a script runs is not known.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// Options are what a sandbox is for. Folders are absolute.
type Options struct {
	Workspace string   // that commands may write
	Home      string   // of the user
	Own       []string // configuration and state of adze: no command may read them
	State     string   // where notes about levels and placeholders are kept
	Memory    uint64   // bytes for all processes of one command; if 0, half of the machine's
	Processes uint64   // of one command; if 0, 4096
	Means     []Means  // to be tried, the best first; if nil, those of this system
	Network   *Network // the way out for commands that may ask for one; if nil, there is none

	// Read and Write are files and folders that the user shows to commands beside the workspace,
	// absolute.
	Read, Write []string
	// Rules are those of the user that reach into the sandbox. It is nil where there are none.
	Rules Rules

	// Denied says why a rule keeps commands from writing a path; if empty, none does. If nil, there
	// are no such rules.
	Denied func(path string) string
	// Around calls apply, once: that applies what a command changed to the workspace at the paths, and
	// returns those at which it did. A folder that comes or goes stands for all in it. The tag is the
	// command's. With an error, for which apply was not called, nothing of what it changed is applied.
	// If nil, apply is called.
	Around func(tag string, paths []string, apply func() []string) error
}

// Rules are what the sandbox asks the user's rules.
type Rules interface {
	// Allowed lists the paths, absolute, that allow rules name for reading, or for writing.
	Allowed(write bool) []string
	// Secret lists places of the home that hold secrets: of a folder that the user shows they stay
	// hidden, unless they are named.
	Secret() []string
	// Denied lists what deny rules keep from being read, or written.
	Denied(write bool) []Denial
}

// ErrUnsuitable says that no sandbox can be put around a workspace.
var ErrUnsuitable = errors.New("no sandbox fits this workspace")

// Denial is a deny rule about files, as far as it reaches into the sandbox.
type Denial struct {
	Rule string // as the user wrote it
	Root string // the folder that the pattern counts from
	// Pattern is of paths below Root, in the letters that Fold makes of a name.
	Pattern string
	Fold    func(string) string
}

// Network is the way out of a sandbox: how hosts are spelt and dialled. Whether one may be reached
// is asked of the command, see proc.Command.Reach.
type Network struct {
	Canonical func(host string) (string, error)
	Dial      func(ctx context.Context, host string, port uint16) (net.Conn, error)
}

// Of is the sandbox of a workspace for the user who runs this. The state folder is secret, as the
// others are.
func Of(workspace, state string, secret ...string) *Sandbox {
	home, _ := os.UserHomeDir() // without one there are no secrets of a home
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return New(Options{Workspace: workspace, Home: home, State: state, Own: append(secret, state)})
}

// Through gives commands a way out. It is called before the first of them.
func (s *Sandbox) Through(n Network) *Sandbox {
	s.o.Network = &n
	return s
}

// Show lets commands read and change files and folders beside the workspace, and those that rules
// name. It is called before the first of them.
func (s *Sandbox) Show(read, write []string, rules Rules) *Sandbox {
	s.o.Read, s.o.Write, s.o.Rules = read, write, rules
	return s
}

// Judged has changes that commands made apart judged by rules and seen when they are applied:
// Options.Denied and Around. It is called before the first of them.
func (s *Sandbox) Judged(denied func(path string) string, around func(tag string, paths []string, apply func() []string) error) *Sandbox {
	s.o.Denied, s.o.Around = denied, around
	return s
}

// Enclose puts a command into the sandbox by the means that the self-test chose: proc.Cage.
func (s *Sandbox) Enclose(ctx context.Context, c proc.Command) (proc.Walls, error) {
	report, err := s.Level(ctx)
	if err != nil {
		return proc.Walls{}, err
	}
	if report.Means == None {
		return proc.Walls{}, errors.New("there is no sandbox here: " + report.How)
	}
	walls, err := s.by(report.Means, c)
	if report.Level != Full {
		walls.Name = string(report.Level) + " (" + string(report.Means) + ")"
	}
	return walls, err
}

// Unheld says which deny rules about files do not hold for what a command does inside, at the level
// that commands run at. If empty, all do.
func (s *Sandbox) Unheld(now Report) (told []string) {
	if s.o.Rules == nil {
		return nil
	}
	names := func(list []Denial) (out []string) {
		for _, d := range list {
			if !slices.Contains(out, d.Rule) {
				out = append(out, d.Rule)
			}
		}
		return out
	}
	read, write := names(s.o.Rules.Denied(false)), names(s.o.Rules.Denied(true))
	rules, why := slices.Concat(read, write), "commands run outside the sandbox"
	switch {
	case now.Level == NoLevel:
	case now.Means == RestrictedToken:
		why = "a restricted token holds writes outside of the workspace alone"
	case now.Means == Landlock:
		why = "what a rule or the user allows runs outside of the sandbox, which is " + string(now.Level) + " here"
	default:
		return nil
	}
	if len(rules) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: held for adze's tools and for files that a command names, but not for what a program does that a command starts, because %s", strings.Join(rules, ", "), why)}
}
