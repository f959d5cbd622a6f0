package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// start is a file that starts processes: the programs, the permission, the folder, and the search
// paths for programs and libraries.
type start struct {
	file   string
	places int    // in the file
	what   string // the program
	asked  string
	folder string
	search string
}

// Texts used for many places.
const (
	askedByGate = "each call passes the gate"
	askedNobody = "nobody: it runs no code of the folder"
	itself      = "adze itself, by its own file"
	cleanPath   = "PATH without the workspace"
)

// starts lists all places where the program starts a process. A missing one fails the test: whoever
// adds one describes the permission here and tests it with planted files
// (internal/run/planted_starts_test.go).
func starts() []start {
	return []start{
		{"internal/sandbox/proc/link_unix.go", 1, "the shim of every command below", "as that is", "/", itself},
		{"internal/sandbox/proc/shim/shim.go", 1, "the command, below its shim", "as that is", "as that says", "the program was found before"},
		{"internal/sandbox/proc/detach.go", 1, "an adze in the background", "the user, who starts it", "the folder of the user", itself},
		{"internal/sandbox/proc/processes_other.go", 1, "ps", askedNobody, "/", "/bin and /usr/bin"},

		{"toolset/bash.go", 1, "a command of the model's or the user's", askedByGate, "the workspace, or one that the gate agreed to", "the user's PATH; without the workspace where a rule allowed it and nobody saw it"},
		{"toolset/declared.go", 1, "a tool of the user's, or one of the project's that they allowed", askedByGate + "; a project's by consent, pinned", "the workspace", "interpreters isolated (proc.Isolated, proc.Consented)"},
		{"internal/project/hooks/run.go", 1, "a hook of the user's or the owner's, or one of the project's that the user allowed",
			"nobody; a project's by consent, pinned; one of the user's that takes code from the folder by consent for the folder, else in a full sandbox", "the workspace", cleanPath + ", interpreters isolated"},
		{"internal/files/formatter/format.go", 1, "a formatter of the user's", "nobody; one that takes code from the folder by consent for the folder, else in a full sandbox", "the workspace", cleanPath + ", interpreters isolated"},
		{"internal/mcp/stdio.go", 1, "an MCP server", "nobody for one of the user's; by consent for the folder where it starts in the workspace or is a program of it; a project's and an editor's by consent, pinned",
			"a folder of its own; the workspace where that was asked about", cleanPath + "; search paths and settings of interpreters without it"},
		{"internal/editors/lsp/server.go", 1, "a language server", "nobody for one that runs no code of the project, in the sandbox where there is one; a project's SDK by consent, pinned",
			"/; the workspace where a server needs it and was allowed", cleanPath + "; no SDK and no module path of the project"},

		{"internal/files/git/run.go", 1, "git, for the git tools, undo and the interface", askedNobody, "a repository", cleanPath + " and without the repository; no setting of the repository runs a program"},
		{"internal/sandbox/gitsettings.go", 1, "git config --list and git ls-files", askedNobody, "the workspace, or a repository in it", cleanPath},
		{"internal/fleet/batch/clone.go", 1, "git, for clones and patches", "the user, who starts a batch", "clones", cleanPath + "; no hooks, no fsmonitor"},
		{"internal/fleet/batch/child.go", 1, "an adze for a task", "the user, who starts a batch", "the clone", itself},

		{"internal/sandbox/proc/helper_linux.go", 1, "the holder of the views of a stage", "nobody; the user, who chose mode staged", "/", itself},
		{"internal/sandbox/stage.go", 2, "nothing: plans that are looked at, and the command that has ended", "", "", ""},
		{"internal/sandbox/live.go", 1, "nothing: a plan that is looked at", "", "", ""},
		{"internal/sandbox/selftest.go", 1, "the attempts of the self-test", askedNobody, "a folder below the state", itself},
		{"internal/sandbox/site.go", 2, "sleep, which the self-test must not see", askedNobody, "where adze runs", cleanPath},
		{"internal/run/hostio/beside.go", 1, "an adze that shows all sessions", "the user, by a key", "where adze runs", itself},

		{"internal/run/hostio/clipboard.go", 1, "the program of the desktop's clipboard", "the user, by a key", "where adze runs", cleanPath},
		{"internal/run/hostio/editor.go", 1, "the user's editor", "the user, by a key", "where adze runs", cleanPath},
		{"internal/run/process/credentials.go", 1, "a program that prints a key or credentials: key_command, credential_process, aws", "the user, whose configuration names it", "a temporary folder", "the user's PATH"},
		{"internal/mcp/oauth/open.go", 1, "the user's browser", "the user, who logs in", "where adze runs", cleanPath},
		{"internal/cmd/doctor/machine.go", 1, "tmux show-options, inside tmux", askedNobody, "where adze runs", cleanPath},

		{"internal/tools/bench/floor/main.go", 1, "nothing of the program: a measurement", "", "", ""},
		{"internal/tools/picture/main.go", 1, "nothing of the program: it draws pictures for the README", "", "", ""},
		{"internal/tools/picture/pane.go", 3, "the same", "", "", ""},
		{"internal/tools/release/command.go", 1, "go and git, which make a release", "a maintainer, who starts it", "the checkout", "the maintainer's PATH"},
		{"internal/testkit/posix/posix_unix.go", 1, "nothing of the program: for tests", "", "", ""},
		{"internal/testkit/posix/posix_windows.go", 1, "nothing of the program: for tests", "", "", ""},
		{"internal/testkit/browsertest/browsertest.go", 1, "nothing of the program: for tests", "", "", ""},
		{"internal/cmd/doctor/selftest.go", 1, "a line of bash that the self-test holds", "nobody: the user has asked for the self-test", "a temporary folder", "the user's PATH"},
		{"internal/testkit/natstest/natstest.go", 2, "nothing of the program: for tests", "", "", ""},
		{"internal/testkit/proxytest/proxytest.go", 1, "the same", "", "", ""},
	}
}

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

// startsIn counts process starts in a file: values of proc.Command, and uses of starting functions
// in ways.
func (c *checker) startsIn(p *pkg, f *file) (n int) {
	names := map[string][]string{}
	command := "" // the file's name for the package of proc.Command
	if p.path == "internal/sandbox/proc" {
		command = "."
	}
	for _, spec := range f.ast.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(target)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if target == c.module.name+"/internal/sandbox/proc" {
			command = name
		}
		for _, w := range ways() {
			if w.rule == ruleProcess && w.names[target] != nil {
				names[name] = w.names[target]
			}
		}
	}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CompositeLit:
			switch t := node.Type.(type) {
			case *ast.SelectorExpr:
				if x, ok := t.X.(*ast.Ident); ok && x.Name == command && t.Sel.Name == "Command" {
					n++
				}
			case *ast.Ident:
				if command == "." && t.Name == "Command" && len(node.Elts) > 0 {
					n++
				}
			}
		case *ast.SelectorExpr:
			if x, ok := node.X.(*ast.Ident); ok && slices.Contains(names[x.Name], node.Sel.Name) {
				n++
			}
		}
		return true
	})
	return n
}

func (c *checker) starts(list []start) {
	left := slices.Clone(list)
	for _, p := range c.module.packages {
		for _, f := range p.files {
			n := 0
			if !f.test {
				n = c.startsIn(p, f)
			}
			at := slices.IndexFunc(left, func(s start) bool { return s.file == strings.TrimPrefix(f.path, "./") })
			listed := 0
			if at >= 0 {
				listed = left[at].places
				left = slices.Delete(left, at, at+1)
			}
			if n != listed {
				c.report(f.path, "say in starts.go who is asked before it, where it starts and where it looks for programs", "it starts a process at %d places, and %d are listed", n, listed)
			}
		}
	}
	for _, s := range left {
		c.report(s.file, "take it out of starts.go", "a file that starts processes is listed, and not there")
	}
}
