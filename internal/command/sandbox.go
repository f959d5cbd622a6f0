package command

import "github.com/spf13/cobra"

// SandboxInShort says in plain words how commands run in a full sandbox: on one screen, before the
// user chooses.
const SandboxInShort = `How shall commands run in this folder?
In the sandbox a command may change this folder (/undo takes that back), use the
programs of this machine, and reach hosts on the network that you allow. It
cannot change other files, read your keys and passwords or use the sockets of
other programs. Changes of git hooks and of settings of editors are left out and
told. What needs more is a question to you. It does not keep what is in this
folder from being read or badly changed, nor what is sent to a host that you
allowed. Outside, a command that you allow can do all that you can do.
adze sandbox says more; /mode changes it for a session.`

// sandboxHelp is adze help sandbox: what holds at each level, and what does not. The README
// promises the same.
func sandboxHelp() *cobra.Command {
	return &cobra.Command{Use: "sandbox", Short: "What the sandbox holds at each level, and what it does not",
		Long: SandboxInShort + `

Permissions decide what is attempted; a sandbox decides what is possible. adze doctor tells the level of this machine, found by
a self-test that tries from inside what must fail; any success means that it is not full.

full      Namespaces of adze's own, or bubblewrap's. Commands write the workspace and a private /tmp alone, without the hooks and
          configuration of git and the folders of editors in it, also where those do not exist yet. Your home, other
          users' homes, drives and each folder of the root that is not the system's are empty, but for the folders on PATH and their
          toolchains, the settings of build tools and of git as copies without secrets, and what you show: "sandbox": {"read": [...],
          "write": [...]} in the configuration, or allow rules with abs: or home:. Where the home is the workspace there is no sandbox.
          What a rule denies to be read is not there, and what it denies to be written stays as it is. There are no other
          processes, no sockets of the host, no keys of the kernel, no mounts, and no way to leave a program that runs as its
          owner. A command that is waited for works on a view of the workspace.
          When it has ended its changes are applied, but for what makes git, editors or assistants run something at any depth, what a
          deny rule keeps from being written, sockets, devices and links that lead out, and what somebody else changed meanwhile:
          those are told, and kept aside.
full, live  The same walls around a job, which goes on beyond its call, and around all commands where there can be no view (another
          file system mounted in the workspace, folders of another owner or group, NFS). They change the files themselves, so that
          watchers work; mode auto asks about them. Folders of git are apart: what a job commits is judged and applied when it has
          ended. Where that cannot be they are read only, unless you allow the command. A new repository that would make git run
          something is set aside after the command; links out, and files of editors and assistants, are told.
          The network is a proxy that asks for each host as for any permission.
degraded  Landlock and a filter of system calls, where namespaces cannot be had. Files outside cannot be written, nor their modes
          changed. adze's supervisor makes each change in the workspace in the place of the command, without the hooks and configuration
          of git, new repositories and the folders of editors and assistants at any depth. There is no network, not even loopback:
          in permission mode auto a command whose words need one is asked about before it runs, and one that failed for want of it
          after. Names of the machine's files and processes can be seen. Deny rules for files are not held against what a command
          does by itself, so with such a rule each command is asked about, as with all that the self-test found open.
          adze doctor says the one command that makes the level full.
none      A command that is allowed can do what you can do.

--sandbox auto      (default) in permission mode auto, where it is full or degraded: what it holds is not asked about
--sandbox required  always; where it is not full, adze does not start
--sandbox off       never

A command that fails because of the sandbox is offered to you once outside, with the reason: a path that it could not write, an
address or socket that it could not connect to, a system call that is closed. That is known from the calls it made, never from
what it printed, and only where you could do it. Without a terminal it is told what that was, and so is adze audit show.

adze's own settings are yours alone. A command of adze that changes rules, consents, servers, keys or stored sessions refuses below
each call of adze, at every level. At level none a command can still write those files itself, or have a timer, a service or a
terminal multiplexer that ran before do it; a change during such a call is told, and that adze uses it no more.

It does not hold: what git keeps of a file that a deny rule hides (git show shows it), a file that comes to match such a rule while a
command runs, or another name of it (a hard link); what is sent to a host that you allowed; sockets in the workspace; programs that ignore the proxy variables
reach nothing (Java, ssh, most database clients); memory that belongs to no process is not counted. git remote add fails
inside, because the configuration of the repository is read only, and a program may be left that runs with your own group. On macOS the profile is built but was never run.`}
}
