// Package sandbox decides what a command can reach and enforces it through the shim that supervises
// the command (internal/sandbox/proc).
//
// Permissions decide what is attempted; a sandbox decides what is possible. Inside, the file tree
// is read only except for the workspace and a private /tmp. Homes and other users' places are empty
// except for allowed paths (home.go). Files that would make other programs run something later
// (git's hooks and configuration, editors' folders) are read only, even before they exist. The
// network is reachable only through a proxy that asks. Other processes, the kernel's keys,
// namespaces and mounts are out of reach.
//
// A foreground command changes a view of the workspace (package overlay, view.go), if the kernel
// supports one. After it ends, each change is judged (judge.go, judge_git.go) and applied, or left
// out and reported. So other programs meet none of its temporary states, and others' changes are
// not taken for its own. Jobs, and all commands without a view, change the workspace itself, so
// that file watchers work (live.go): level "full, live". For them git's folders are read only;
// other planted files are searched for when the command ends (survey.go). A foreground command
// beside a job keeps its view, since that needs no question: it may miss changes by the job, and
// the job sees its changes after it ends.
//
// There are two means, rated by a self-test: own namespaces (ns) and Landlock. Landlock is at most
// degraded: it cannot make a place read only inside a writable folder, so the workspace is read
// only (landlock_linux.go). On macOS the means is a profile (seatbelt).
//
// The one rule: a command runs in the reported sandbox, or not at all.
//
// Start reading at Sandbox and Cage, then plan.go (reachable paths), home.go, settings.go and
// denies.go (users' files), view.go, level.go (rating), survey.go (checks after a command),
// refused.go (failures caused by the sandbox), and one file for each means.
// internal/sandbox/proc/shim/namespace carries it out.
//
// Known limits:
//   - With Landlock there is no network, not even loopback.
//   - Programs reach the network through variables that most of them read; those that do not (Java,
//     ssh, most database clients) reach nothing. Data sent to an allowed host is not inspected.
//   - A server inside sees the supervising process as its client (SO_PEERCRED), with the command's
//     user. Datagram sockets of this machine cannot be made, nor pairs of them.
//   - Without rights over its network (Landlock; not as root) the supervisor cannot serve programs
//     that protect their memory: ssh-agent and gpg-agent are then unreachable, even if the command
//     started them. So are sockets on file systems with inode numbers above 32 bits. Landlock
//     allows no abstract sockets.
//   - FIFOs elsewhere can be read, and before Linux 5.19, or without Landlock, written: then the
//     level is not full.
//   - Programs outside can connect to a command's socket in the workspace.
//   - Hints about paths missing inside (missed.go) go by names, and are no reason to offer a
//     command outside.
//   - A deny rule (denies.go) hides the paths that match when a command starts, but not later
//     matches, other hard links, or a file's content in git's objects. A rule for any folder
//     (**/x) covers the workspace and the paths shown by the user. Without a view, the command sees
//     a file that is replaced while it runs.
//   - Memory outside processes (memfd) is not counted.
//   - As root, all of /proc is read only: a program cannot set its oom_score_adj, for example.
//   - On the live tree editors' folders are protected at the top of the workspace only. A new
//     repository that would make git run something is put aside when the command ends; until then
//     the user's own programs may meet it. The same holds for a submodule that the user checks out
//     meanwhile, and for a .git folder that the user replaces.
//   - A command on the live tree cannot commit.
//   - In a view the kernel cannot rename existing folders (EXDEV). If the shim traces the call, it
//     moves the entries one by one; else mv copies and git mv fails. A name looked up in vain may
//     stay missing for the command when somebody else creates it. Programs outside keep reading
//     the old version of a file that they have open, and file locks do not cross the view.
//   - In a view some files of users with several groups cannot be changed (EOVERFLOW). Folders
//     with other owners are detected and rule out a view; single files are not.
//   - The scripts that git runs are read from its settings when a command has ended; scripts run
//     by those scripts are unknown.
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

// Options configure a Sandbox. Folders are absolute.
type Options struct {
	Workspace  string      // writable for commands
	Home       string      // the user's
	OwnPaths   []string    // adze's configuration and state; no command may read them
	State      string      // stores levels and records of running commands
	Memory     uint64      // bytes for all processes of one command; 0 means half the machine's memory
	Processes  uint64      // per command; 0 means 4096
	Techniques []Technique // in the order to try; nil means this system's
	Network    *Network    // nil means no network access

	// Read and Write are files and folders outside the workspace that the user shows to commands,
	// as absolute paths.
	Read, Write []string
	// Rules are the user's rules that affect the sandbox, or nil.
	Rules Rules

	// Denied returns the rule against writing a path, or "". Nil means no such rules.
	Denied func(path string) string
	// WrapApply calls apply once, which applies a command's changes to the workspace at the given
	// paths and returns the changed ones. A folder that comes or goes stands for everything in it.
	// The tag is the command's. If WrapApply returns an error without calling apply, no change is
	// applied. Nil means that apply is called directly.
	WrapApply func(tag string, paths []string, apply func() []string) error
}

// Rules gives access to the user's rules.
type Rules interface {
	// Allowed lists the absolute paths that allow rules name for reading, or for writing.
	Allowed(write bool) []string
	// Secret lists the home's secret places. They stay hidden in a folder that the user shows,
	// unless named themselves.
	Secret() []string
	// Denied lists the deny rules for reading, or for writing.
	Denied(write bool) []Denial
}

// ErrUnsuitable means that the workspace cannot have a sandbox.
var ErrUnsuitable = errors.New("no sandbox fits this workspace")

// A Denial is a deny rule for files as far as it affects the sandbox.
type Denial struct {
	Rule string // as written by the user
	Root string // the pattern is relative to it
	// Pattern matches paths below Root, normalized by Fold.
	Pattern string
	Fold    func(string) string
}

// Network spells and dials hosts for a sandbox. The command decides which may be reached; see
// proc.Command.Reach.
type Network struct {
	Canonical func(host string) (string, error)
	Dial      func(ctx context.Context, host string, port uint16) (net.Conn, error)
}

// ForWorkspace returns the sandbox of a workspace for the current user. The state folder and secret
// are hidden from commands.
func ForWorkspace(workspace, state string, secret ...string) *Sandbox {
	home, _ := os.UserHomeDir() // without a home there are no secrets in it
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return New(Options{Workspace: workspace, Home: home, State: state, OwnPaths: append(secret, state)})
}

// SetNetwork gives commands network access. Call it before the first command.
func (s *Sandbox) SetNetwork(n Network) *Sandbox {
	s.o.Network = &n
	return s
}

// Show lets commands read and change files outside the workspace, including those that rules name.
// Call it before the first command.
func (s *Sandbox) Show(read, write []string, rules Rules) *Sandbox {
	s.o.Read, s.o.Write, s.o.Rules = read, write, rules
	return s
}

// SetChangePolicy sets Options.Denied and WrapApply for changes in a view. Call it before the first
// command.
func (s *Sandbox) SetChangePolicy(denied func(path string) string, around func(tag string, paths []string, apply func() []string) error) *Sandbox {
	s.o.Denied, s.o.WrapApply = denied, around
	return s
}

// Enclose puts a command into the sandbox by the means chosen in the self-test. It implements
// proc.Cage.
func (s *Sandbox) Enclose(ctx context.Context, c proc.Command) (proc.Confinement, error) {
	report, err := s.Level(ctx)
	if err != nil {
		return proc.Confinement{}, err
	}
	if report.Technique == None {
		return proc.Confinement{}, errors.New("there is no sandbox here: " + report.Explanation)
	}
	walls, err := s.by(report.Technique, c)
	if report.Level != Full {
		walls.Name = string(report.Level) + " (" + string(report.Technique) + ")"
	}
	return walls, err
}

// Unheld returns messages about deny rules for files that commands at the current level can break.
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
	case now.Technique == Landlock:
		why = "what a rule or the user allows runs outside of the sandbox, which is " + string(now.Level) + " here"
	default:
		return nil
	}
	if len(rules) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: held for adze's tools and for files that a command names, but not for what a program does that a command starts, because %s", strings.Join(rules, ", "), why)}
}
