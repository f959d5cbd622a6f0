package archtest

import (
	"strconv"
	"strings"
)

// start is the row of a file that starts processes.
type start struct {
	places int
	direct string // the reason why it does so without internal/sandbox/proc
}

// starts reads rows: the file, the places in it, the program, the one who is asked before, the
// folder, where programs and libraries are searched, and why it needs no supervisor.
func starts(rows string) map[string]start {
	out := map[string]start{}
	for line := range strings.Lines(rows) {
		columns := strings.Split(strings.TrimSpace(line), " | ")
		if len(columns) < 2 {
			continue
		}
		row := start{}
		row.places, _ = strconv.Atoi(columns[1])
		if len(columns) == 7 {
			row.direct = columns[6]
		}
		out[columns[0]] = row
	}
	return out
}

// allStarts lists all places where the program starts a process. A missing one fails the test:
// whoever adds one describes the permission here and tests it with planted files
// (internal/run/planted_starts_test.go).
const allStarts = `
internal/sandbox/proc/link_unix.go | 1 | the shim of every command below | as that is | / | adze itself, by its own file
internal/sandbox/proc/shim/shim.go | 1 | the command, below its shim | as that is | as that says | the program was found before
internal/sandbox/proc/detach.go | 1 | an adze in the background | the user, who starts it | the folder of the user | adze itself, by its own file
internal/sandbox/proc/processes_other.go | 1 | ps | nobody: it runs no code of the folder | / | /bin and /usr/bin
toolset/bash.go | 1 | a command of the model's or the user's | each call passes the gate | the workspace, or one that the gate agreed to | the user's PATH; without the workspace where a rule allowed it and nobody saw it
toolset/declared.go | 1 | a tool of the user's, or one of the project's that they allowed | each call passes the gate; a project's by consent, pinned | the workspace | interpreters isolated (proc.Isolated, proc.Consented)
internal/project/hooks/run.go | 1 | a hook of the user's or the owner's, or one of the project's that the user allowed | nobody; a project's by consent, pinned; one of the user's that takes code from the folder by consent for the folder, else in a full sandbox | the workspace | PATH without the workspace, interpreters isolated
internal/files/formatter/format.go | 1 | a formatter of the user's | nobody; one that takes code from the folder by consent for the folder, else in a full sandbox | the workspace | PATH without the workspace, interpreters isolated
internal/mcp/stdio.go | 1 | an MCP server | nobody for one of the user's; by consent for the folder where it starts in the workspace or is a program of it; a project's and an editor's by consent, pinned | a folder of its own; the workspace where that was asked about | PATH without the workspace; search paths and settings of interpreters without it
internal/editors/lsp/server.go | 1 | a language server | nobody for one that runs no code of the project, in the sandbox where there is one; a project's SDK by consent, pinned | /; the workspace where a server needs it and was allowed | PATH without the workspace; no SDK and no module path of the project
internal/files/git/run.go | 1 | git, for the git tools, undo and the interface | nobody: it runs no code of the folder | a repository | PATH without the workspace and without the repository; no setting of the repository runs a program
internal/sandbox/gitsettings.go | 1 | git config --list and git ls-files | nobody: it runs no code of the folder | the workspace, or a repository in it | PATH without the workspace
internal/fleet/batch/clone.go | 1 | git, for clones and patches | the user, who starts a batch | clones | PATH without the workspace; no hooks, no fsmonitor
internal/fleet/batch/child.go | 1 | an adze for a task | the user, who starts a batch | the clone | adze itself, by its own file | an adze of the person's own, which below a shim would take their flags for those of a command, and trust none
internal/sandbox/proc/helper_linux.go | 1 | the holder of the views of a stage | nobody; the user, who chose mode staged | / | adze itself, by its own file
internal/sandbox/stage.go | 2 | nothing: plans that are looked at, and the command that has ended
internal/sandbox/live.go | 1 | nothing: a plan that is looked at
internal/sandbox/selftest.go | 1 | the attempts of the self-test | nobody: it runs no code of the folder | a folder below the state | adze itself, by its own file
internal/sandbox/site.go | 2 | sleep, which the self-test must not see | nobody: it runs no code of the folder | where adze runs | PATH without the workspace | the process whose neighbours the self-test of the sandbox must not see
internal/run/hostio/beside.go | 1 | an adze that shows all sessions | the user, by a key | where adze runs | adze itself, by its own file | adze itself, in the user's terminal, which the shim would take from it
internal/run/hostio/clipboard.go | 2 | the program of the desktop's clipboard, and tmux | the user, by a key | where adze runs | PATH without the workspace | the program that holds the person's clipboard, at their key
internal/run/hostio/editor.go | 1 | the user's editor | the user, by a key | where adze runs | PATH without the workspace | the person's own editor, in their terminal, which the shim would take from it
internal/run/process/credentials.go | 1 | a program that prints a key or credentials: key_command, credential_process, aws | the user, whose configuration names it | a temporary folder | the user's PATH | a program that the person's configuration names, which needs their environment and prints to adze alone
internal/mcp/oauth/open.go | 1 | the user's browser | the user, who logs in | where adze runs | PATH without the workspace | the person's own browser, at their command, which stays when adze ends
internal/cmd/doctor/machine.go | 1 | tmux show-options, inside tmux | nobody: it runs no code of the folder | where adze runs | PATH without the workspace | it asks the tmux that the person sits in for one setting
internal/tools/bench/floor/main.go | 1 | nothing of the program: a measurement |  |  |  | the least that any assistant takes, to be measured against; no run links it
internal/tools/picture/main.go | 1 | nothing of the program: it draws pictures for the README |  |  |  | it draws the pictures of the README; no run links it
internal/tools/picture/pane.go | 3 | the same |  |  |  | the same
internal/tools/release/command.go | 1 | go and git, which make a release | a maintainer, who starts it | the checkout | the maintainer's PATH | it makes releases; no run links it
internal/testkit/posix/posix_unix.go | 1 | nothing of the program: for tests |  |  |  | for tests only: it sets how a program of theirs starts
internal/testkit/posix/posix_windows.go | 1 | nothing of the program: for tests |  |  |  | the same
internal/testkit/browsertest/browsertest.go | 1 | nothing of the program: for tests |  |  |  | for tests only: a browser that tests drive
internal/cmd/doctor/selftest.go | 1 | a line of bash that the self-test holds | nobody: the user has asked for the self-test | a temporary folder | the user's PATH
internal/testkit/natstest/natstest.go | 2 | nothing of the program: for tests |  |  |  | for tests only: what is killed and stopped by its number cannot stand below a shim
internal/testkit/proxytest/proxytest.go | 1 | the same |  |  |  | for tests only
`

// starters are external packages that could start a process, and why they do not.
func starters() map[string]string {
	return map[string]string{
		"charm.land/bubbletea/v2":                          "it runs what the interface hands it; nothing does",
		"github.com/charmbracelet/colorprofile":            "it asks tmux about colours for an output that is a terminal; the interface gives it none, and an environment without tmux",
		"github.com/Azure/azure-sdk-for-go/sdk/azidentity": "it asks az, azd and pwsh for a token, where the user has chosen a model at Azure and no key",
		"github.com/pkg/browser":                           "azidentity opens a browser for credentials that are asked for interactively; the default chain has none",
		"golang.org/x/oauth2/google/externalaccount":       "it starts the program in a file of credentials only where GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is 1",
		"github.com/godbus/dbus/v5":                        "it starts a bus where there is none; the key ring is only asked where there is one (keyring.OfSystem)",
		"github.com/modelcontextprotocol/go-sdk/mcp":       "its CommandTransport starts servers; internal/mcp starts them itself",
		"modernc.org/libc":                                 "system(3) for programs in C; SQLite does not call it",
	}
}
