// Package toolset is the catalogue of built-in tools: one .go, one .md and one test per tool, and
// one line in New to enlist it.
//
// The one rule: a tool takes what it needs (a walker, a supervisor), not everything there is; Deps
// stays in New. Insides that are more than a tool's own business live in leaf packages under
// internal.
//
// Start reading at New, then glob.go. Tools that a user declares in files are declared*.go;
// restore.go gives a resumed session back what its tools knew. The package is large because each
// tool has its own files.
//
// Known limits: a command keeps no shell: folder and variables are as before at the next call. Jobs
// in the background end with adze, and a resumed session does not have them.
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

// Deps is what the built-in tools work with. New documents which tool takes what.
type Deps struct {
	// Root is the workspace, for every tool that touches files; Seen is what the session has read.
	Root *workspace.Root
	Seen *workspace.Seen
	// Shell runs commands; if nil, one without a ledger, with this process's cleaned environment.
	// Whoever gives one closes it.
	Shell *Shell
	// AskProcesses has list_processes need to read /proc, which is asked about: a program of others
	// makes the calls.
	AskProcesses bool
	// Env looks up where git's configuration lies, for glob, grep and list; if nil, os.Getenv.
	Env func(string) string
	// Withhold says which files glob and grep leave out when they were allowed to look below
	// root: those that a call of their own would be asked or refused for. The function it returns gets
	// an absolute folder with a final slash and a name in it; if nil, nothing is held back, as for a
	// nil Withhold.
	Withhold func(root string) func(dir, name string) bool
	// Todos is the session's todo list.
	Todos *Todos
	// Web fetches pages; if nil, from the public web only.
	Web PageFetcher
	// Declared is where the user declares tools; if nil, nowhere. New fills in what came of it.
	Declared *Declared
	// Tasks runs subagents; if nil, the task tool answers LLM_ASSIST_REQUIRED.
	Tasks Tasks
	// Bounds are the limits that the user has set.
	Bounds Bounds
	// Brief offers some tools with a shorter description and only their usual arguments, for models
	// that read slowly; the others are accepted all the same.
	Brief bool
	// Search asks a search engine; if nil, none is configured, and websearch is not offered.
	Search WebSearch
	// Inquire puts the model's questions to the user; if nil, nobody is there, and ask is not offered.
	Inquire Inquire
	// Plans takes the model's plans; if nil, it makes none here, and plan is not offered.
	Plans Plans
	// Stage is what turns in permission mode staged work on; if nil, there is none.
	Stage Stage
	// Finder searches tools that requests do not show; if nil, tool_search has nothing to find.
	Finder Finder
	// Code asks language servers; if nil, there are none, and the tools that ask them are not offered.
	Code *lsp.Servers
	// Formatters rewrite files after edits; if nil, none does.
	Formatters *formatter.Formatters
	// Skills loads skills; if nil, there are none, and skill is not offered.
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
	if d.Declared != nil { // last, so that no declared tool takes the name of a built-in one
		d.Declared.enlist(registry, d.Root, d.Shell)
	}
	return registry, nil
}

// builtIn are the tools of this package, in the order in which they are offered. How they are
// declared may depend on nothing but the fields of d that say so: only a test looks whether the
// declarations are sound.
func (d Deps) builtIn() []tool.Tool {
	if d.Todos == nil {
		d.Todos = &Todos{}
	}
	if d.Seen == nil {
		d.Seen = &workspace.Seen{}
	}
	f := files{code: d.Code, formatters: d.Formatters, withhold: d.Withhold, root: d.Root, seen: d.Seen, bounds: d.Bounds, brief: d.Brief}
	s := seeker{files: f, env: d.Env}
	if d.Web == nil {
		d.Web = web.New(web.Policy{})
	}
	g := repos{files: f, git: git.Git{Supervisor: d.Shell.Supervisor, Env: d.Shell.Env}}
	if d.Root != nil { // who only looks at what tools there are has none
		g.git.Env = proc.Outside(d.Shell.Env, d.Root.Dir())
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
