// Package toolset is the catalogue of built-in tools: one .go, one .md and one test per tool, and
// one line in New to enlist it.
//
// The one rule: a tool gets only its dependencies (a walker, a supervisor); Deps stays in New.
// Larger implementations live in leaf packages under internal.
//
// Start reading at New, then glob.go. declared*.go handle tools that a user declares in files;
// restore.go restores the tools' state in a resumed session. The package is large because each tool
// has its own files.
//
// Known limits: commands share no shell: folder and variables are reset for each call. Background
// jobs end with adze, and a resumed session does not have them.
package toolset

import (
	"fmt"
	"os"

	"adze/internal/editors/lsp"
	"adze/internal/files/formatter"
	"adze/internal/files/git"
	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/internal/web"
	"adze/tool"
)

// Deps holds the built-in tools' dependencies. New documents their use.
type Deps struct {
	// Root is the workspace, for every tool that touches files; Seen is the session's record of
	// files read.
	Root       *workspace.Root
	KnownFiles *workspace.KnownFiles
	// Shell runs commands; nil creates one without a ledger, with this process's cleaned
	// environment. Its creator closes it.
	Shell *Shell
	// AskProcesses makes list_processes need to read /proc, which is asked about: another program
	// makes the calls.
	AskProcesses bool
	// Env finds git's configuration for glob, grep and list; nil means os.Getenv.
	Env func(string) string
	// Withhold selects files that glob and grep omit below an allowed root: those that a call of
	// their own would be asked or refused for. The returned function gets an absolute folder with a
	// trailing slash and a name in it; nil withholds nothing, as does a nil Withhold.
	Withhold func(root string) func(dir, name string) bool
	// Todos is the session's todo list.
	Todos *Todos
	// Web fetches pages; nil fetches from the public web only.
	Web PageFetcher
	// Declared is the folder with the user's tools; may be nil. New fills in the result.
	Declared *Declared
	// Tasks runs subagents; if nil, the task tool returns LLM_ASSIST_REQUIRED.
	Tasks Tasks
	// Bounds are the user's limits.
	Bounds Bounds
	// Brief offers some tools with a shorter description and only their usual arguments, for models
	// that read slowly; the others are still accepted.
	Brief bool
	// Search is a search engine; if nil, websearch is not offered.
	Search WebSearch
	// Inquire asks the user for the model; if nil, ask is not offered.
	Inquire Inquire
	// Plans receives the model's plans; if nil, plan is not offered.
	Plans Plans
	// Stage is the view used in permission mode staged; may be nil.
	Stage Stage
	// Finder searches tools that are not in requests; if nil, tool_search finds nothing.
	Finder Finder
	// Code holds the language servers; if nil, their tools are not offered.
	Code *lsp.Servers
	// Formatters rewrite files after edits; may be nil.
	Formatters *formatter.Formatters
	// Skills loads skills; if nil, skill is not offered.
	Skills Skills
}

// New enlists the built-in tools, in the order in which they are offered.
func New(d Deps) (*tool.Registry, error) {
	if d.Shell == nil {
		d.Shell = NewShell(proc.Supervisor{}, proc.Environ(os.Environ(), proc.EnvPolicy{}))
	}
	registry := &tool.Registry{}
	for _, t := range d.builtIn() {
		if err := registry.RegisterTested(t); err != nil {
			return nil, fmt.Errorf("toolset: %w", err)
		}
	}
	if d.Declared != nil { // last, so that no declared tool takes a built-in name
		d.Declared.enlist(registry, d.Root, d.Shell)
	}
	return registry, nil
}

// builtIn returns this package's tools, in the order in which they are offered. Declarations may
// depend only on the fields of d that say so, since only a test checks them.
func (d Deps) builtIn() []tool.Tool {
	if d.Todos == nil {
		d.Todos = &Todos{}
	}
	if d.KnownFiles == nil {
		d.KnownFiles = &workspace.KnownFiles{}
	}
	f := files{code: d.Code, formatters: d.Formatters, withhold: d.Withhold, root: d.Root, knownFiles: d.KnownFiles, bounds: d.Bounds, brief: d.Brief}
	s := seeker{files: f, env: d.Env}
	if d.Web == nil {
		d.Web = web.New(web.Policy{})
	}
	g := repos{files: f, git: git.Git{Supervisor: d.Shell.Supervisor, Env: d.Shell.Env}}
	if d.Root != nil { // nil when only listing tools
		g.git.Env = proc.WithoutPathsIn(d.Shell.Env, d.Root.Dir())
	}
	return append([]tool.Tool{
		read(f),
		write(f),
		edit(f),
		applyPatch(f),
		glob(s),
		grep(s),
		list(s),
		bash(f, d.Shell),
		bashOutput(d.Shell),
		bashKill(d.Shell),
		listProcesses(d.Shell, d.AskProcesses),
		gitStatus(g),
		todowrite(d.Todos),
		todoread(d.Todos),
		webfetch(d.Web, d.Bounds),
		webSearch(d.Search),
		ask(d.Inquire),
		plan(d.Plans),
		task(d.Tasks),
		skill(d.Skills),
		toolSearch(d.Finder),
		taskComplete(),
		stage(d.Stage),
	}, f.linguists()...)
}
