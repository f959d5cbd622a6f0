package command

import "github.com/spf13/cobra"

// sandboxHelp is adze help sandbox: what holds at each level, and what does not. The README promises the same.
func sandboxHelp() *cobra.Command {
	return &cobra.Command{Use: "sandbox", Short: "What the sandbox holds at each level, and what it does not",
		Long: `Permissions decide what is attempted; a sandbox decides what is possible. adze doctor tells the level of this machine, found by
a self-test that tries from inside what must fail; any success means that it is not full.

full      Namespaces of adze's own, or bubblewrap's. Commands write the workspace and a private /tmp alone, without the hooks and
          configuration of git and the folders of editors in it, also where those do not exist yet. Folders with secrets are
          empty. There are no other processes, no sockets of the host, no keys of the kernel, no mounts, and no way to leave a
          program that runs as its owner. A repository that was planted, also below .git, is set aside after the command.
          The network is a proxy that asks for each host as for any permission.
degraded  Landlock and a filter of system calls alone. Files outside cannot be written and there is no network; but they can
          be seen, their modes changed, and what is protected inside the workspace only set aside after the command.
none      A command that is allowed can do what you can do.

--sandbox auto      (default) in permission mode auto, where it is full: what it holds is not asked about
--sandbox required  always; where it is not full, adze does not start
--sandbox off       never

A command that fails because of the sandbox is offered to you once outside, with the reason: a path that it could not write, an
address or socket that it could not connect to, a system call that is closed. That is known from the calls it made, never from
what it printed, and only where you could do it. Without a terminal it is told what that was, and so is adze audit show.

It does not hold: what is sent to a host that you allowed; sockets in the workspace; programs that ignore the proxy variables
reach nothing (Java, ssh, most database clients); memory that belongs to no process is not counted. git remote add fails
inside, because the configuration of the repository is read only, and a program may be left that runs with your own group. On macOS the profile is built but was never run.`}
}
