package run

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	cli "adze/internal/cmd"
	"adze/internal/cmd/batch"
	"adze/internal/cmd/mcp"
	"adze/internal/cmd/print"
	"adze/internal/cmd/sessions"
	"adze/internal/cmd/undo"
	worktreeCmd "adze/internal/cmd/worktree"
	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/run/outputschema"
	"adze/session"
	"adze/tui/api"
)

// options are the flags of a run.
type options struct {
	print       bool
	stdin       bool // "-" stands among the words: the prompt is on stdin, or goes on there
	format      string
	inputFormat string
	model       string
	effort      string
	agent       string // that leads the conversation; if empty, adze's own
	resume      string
	resumeLast  bool
	fork        bool
	as          string       // the id of a new session; if empty, any
	files       workspace.FS // the way to files; if nil, the disk
	lent        []acp.Server // MCP servers that an editor names
	worktree    string       // the name of the git work tree to work in
	acceptPlan  string       // the mode to go on in
	policyconfig.Flags
	tools        []string
	noTools      []string
	maxTurns     int // counts when given
	maxCalls     int
	maxTokens    int
	maxCost      float64 // USD
	maxTime      time.Duration
	schema       string
	answer       *outputschema.Schema // read from schema; if nil, any answer will do
	system       string
	appendSystem string
	attach       []string
	record       string
	replay       string
	noSession    bool
	bare         bool
	failOnDeny   bool
	tryPatch     string // a file for what commands that run aside would have changed
	taskComplete bool
	demo         bool
	transcript   bool
	plain        bool
	inline       bool
	at           api.Place              // to show of the session
	theme, shown string                 // in a later sitting: the theme that was chosen, the session that the terminal shows
	asked        string                 // the first prompt, where it is known before the run is wired
	serves       bool                   // a program of others makes the calls, not a model
	alone        bool                   // no model is configured that could work on its tasks
	byHand       session.Provider       // makes the one call of adze tools run, in place of a model
	given        func(flag string) bool // nil: no flag was
}

// usualTurns is how many model requests a prompt may take where nobody says anything: more than the
// longest work that adze is measured with (400), and an end to what the loop guard does not see,
// such as a model that changes a file a little in every step. Requests of subagents have a bound of
// their own.
const usualTurns = 500

const examples = `  adze                                    work in this folder
  adze "why does the build fail?"         with a first prompt
  adze -p "add a test for Parse"          no terminal: print the answer
  git diff | adze -p "review this"        the prompt from both
  slow | adze -p "review this" -          wait for stdin, however long it is silent
  adze -p --output-format stream-json --allow 'execute(go test **)' "fix the tests"
  adze --continue                         go on with the last session of this folder
  adze --worktree fix-parser              work beside other sessions, in a git work tree of its own
  adze -p --continue --accept-plan        carry out the plan that it ended with
  adze --demo --print                     see it work without a key`

// commandLine is all that can be said: flags, subcommands, help and completion.
func commandLine(a *app) *cobra.Command {
	o := &options{}
	root := &cobra.Command{
		Use:           "adze [flags] [prompt]",
		Short:         "A coding assistant for the terminal",
		Long:          "A coding assistant for the terminal.\n\nExit codes of --print: " + print.ExitCodes,
		Example:       examples,
		Version:       Version,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, words []string) error {
			if err := cli.Mistyped(c, words); err != nil && !o.print {
				return err
			}
			if o.stdin = slices.Contains(words, "-"); o.stdin {
				words = slices.DeleteFunc(words, func(w string) bool { return w == "-" })
			}
			return a.start(o, strings.Join(words, " "))
		},
	}
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetVersionTemplate("adze {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = false
	addFlags(root, o)
	a.far.Flag(root)
	root.AddCommand(cli.All(&a.Env, a)...)
	root.AddCommand(sessions.Command(&a.Env, a))
	root.AddCommand(undo.Commands(&a.Env, a)...)
	root.AddCommand(worktreeCmd.Command(&a.Env, a))
	root.AddCommand(editorCommand(a))
	root.AddCommand(mcp.Command(&a.Env, a))
	root.AddCommand(batch.Command(&a.Env, batches{a}), batch.WorkerCommand(&a.Env, batches{a}), batch.ListCommand(&a.Env, batches{a}))
	root.AddCommand(serveCommand(a))
	a.far.Readers(root)
	cli.Strict(root, a.byUser)
	return root
}

func addFlags(cmd *cobra.Command, o *options) {
	f := cmd.Flags()
	o.given = f.Changed
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "do the whole job without a terminal and print the answer")
	f.StringVar(&o.format, "output-format", string(print.Text), "with --print: text, json or stream-json")
	f.StringVar(&o.inputFormat, "input-format", inputText, "with --print: text, or stream-json for a program that holds a conversation (adze help lines)")
	f.StringVar(&o.model, "model", "", "`PROVIDER/NAME` of a model; adze models lists both")
	f.StringVar(&o.effort, "effort", "", "how hard the model thinks: `"+strings.Join(session.Efforts(), ", ")+"`; a model takes the nearest that it knows")
	f.StringVar(&o.agent, "agent", "", "the agent of this `NAME` leads the conversation: its prompt, tools, model, mode and steps")
	f.BoolVarP(&o.resumeLast, "continue", "c", false, "go on with the newest session of this folder")
	f.StringVarP(&o.resume, "resume", "r", "", "go on with the session of this `ID` (a unique beginning is enough)")
	f.StringVar(&o.as, "session-id", "", "the new session gets this `ID`, which a program that starts adze can find it by")
	f.StringVarP(&o.worktree, "worktree", "w", "", "work in the git work tree of this `NAME`, on a branch of its own; it is made where it is not there (adze worktree --help)")
	f.BoolVar(&o.fork, "fork", false, "with --continue or --resume: go on in a copy")
	f.StringVar(&o.acceptPlan, "accept-plan", "", "with --continue or --resume: accept the plan of that session and carry it out in this permission `MODE` (edits without one)")
	f.Lookup("accept-plan").NoOptDefVal = string(policy.Edits)
	o.Flags.Add(cmd)
	f.StringSliceVar(&o.tools, "tools", nil, `offer only these tools; --tools "" offers none`)
	f.StringSliceVar(&o.noTools, "no-tools", nil, "do not offer these tools")
	f.IntVar(&o.maxTurns, "max-turns", usualTurns, "model requests a prompt may take; 0: any number")
	f.IntVar(&o.maxCalls, "max-calls", 0, "tool calls a prompt may take")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "tokens a prompt may take")
	f.Float64Var(&o.maxCost, "max-cost", 0, "`USD` a prompt may cost, where the prices are known")
	f.DurationVar(&o.maxTime, "max-time", 0, "time a prompt may take, such as 10m")
	f.StringVar(&o.schema, "output-schema", "", "with --print: the answer is one JSON value that the JSON Schema in this `FILE` accepts")
	f.StringVar(&o.system, "system-prompt", "", "use the text of this `FILE` as system prompt")
	f.StringVar(&o.appendSystem, "append-system-prompt", "", "add the text of this `FILE` to the system prompt")
	f.StringArrayVar(&o.attach, "attach", nil, "attach this image or PDF `FILE` to the prompt")
	f.StringVar(&o.record, "record", "", "write what the model is sent and answers to a new `FILE`, secrets masked")
	f.StringVar(&o.replay, "replay", "", "serve a recorded `FILE` instead of a model; a run that differs fails and names the step")
	f.BoolVar(&o.noSession, "no-session", false, "save nothing")
	f.BoolVar(&o.bare, "bare", false, "read no instruction files")
	f.BoolVar(&o.Try, "try", false, "with --print: commands run aside in the sandbox without questions; what they change is in the result, and dropped")
	f.StringVar(&o.tryPatch, "try-patch", "", "--try, and write what the commands changed of texts to this `FILE`, for git apply")
	f.BoolVar(&o.failOnDeny, "fail-on-deny", false, "exit 7 when anything was denied, by a rule, a person or the sandbox")
	f.BoolVar(&o.taskComplete, "task-complete", false, "offer task_complete, with which the model ends its work")
	f.BoolVar(&o.plain, "plain", false, "lines instead of a screen, for screen readers and simple terminals")
	f.BoolVar(&o.inline, "inline", false, "keep the conversation in the terminal's own scrollback instead of taking the whole screen")
	f.BoolVar(&o.transcript, "transcript", false, "leave the conversation in the terminal when adze ends")
	f.BoolVar(&o.demo, "demo", false, "watch a scripted model fix a small program with the real tools")
}

// limits are the budgets that the flags and the configuration name.
func (s settings) limits(o *options) session.Limits {
	own := 0
	if s.config.Origin("max_turns") == "default" {
		own = usualTurns
	}
	return session.Limits{Own: own, Steps: s.config.MaxTurns, Calls: o.maxCalls, Tokens: o.maxTokens, Cost: o.maxCost, Time: time.Duration(s.config.MaxTime)}
}
