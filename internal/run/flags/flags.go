// Package flags defines a run's command-line flags, and its request, which has more than flags.
//
// The one rule: plain values. Nothing here opens, starts or asks.
//
// Start reading at Run, then Request.
package flags

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/config"
	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/project/instructions"
	"adze/internal/project/plan"
	"adze/internal/run/outputschema"
	"adze/internal/stream"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// Run holds a run's flags.
type Run struct {
	Print       bool
	Stdin       bool // "-" is among the words: stdin has the prompt or its continuation
	Format      string
	InputFormat string
	Model       string
	Effort      string
	Agent       string // leading agent; "" for adze's own
	Resume      string
	ResumeLast  bool
	Choose      bool // show the list of sessions
	Back        bool // /overview returns to the overview that opened this interface
	Review      bool // start with the net changes
	Fork        bool
	NewID       string // id for a new session; "" for any
	Background  bool   // continue without a terminal
	Detached    bool   // this is the background process
	Worktree    string // name of the git work tree
	AcceptPlan  string // next mode
	policyconfig.Flags
	Tools        []string
	NoTools      []string
	MaxTurns     int // only if given
	MaxCalls     int
	MaxTokens    int
	MaxCost      float64 // USD
	MaxTime      time.Duration
	Schema       string
	System       string
	AppendSystem string
	Attach       []string
	Record       string
	Replay       string
	NoSession    bool
	Bare         bool
	FailOnDeny   bool
	TryPatch     string // former name for --staged patch=FILE
	Try          bool   // former name for --staged drop
	TaskComplete bool
	Demo         bool
	Transcript   bool
	Plain        bool
	Inline       bool
	FromInline   bool // switched from inline to the whole screen

	given func(flag string) bool // nil if no flag was given
}

// New returns a run without flags.
func New() Run { return Run{Format: string(stream.Text), InputFormat: TextInput} }

// Parse parses a run's flags. It returns the names of given flags, and the other words.
func Parse(words []string) (o Run, given, rest []string, err error) {
	c := &cobra.Command{Use: "adze"}
	o.Add(c)
	if err := c.ParseFlags(words); err != nil {
		return o, nil, nil, err
	}
	c.Flags().Visit(func(f *pflag.Flag) { given = append(given, f.Name) })
	return o, given, c.Flags().Args(), nil
}

// usualTurns is the default limit for model requests per prompt: more than the longest measured
// task (400), to stop loops that the loop guard does not detect, such as a small file change in
// every step. Subagents have their own limit.
const usualTurns = 500

// Add adds the flags to a command.
func (o *Run) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	o.given = f.Changed
	f.SortFlags = false
	f.BoolVarP(&o.Print, "print", "p", false, "do the job without a terminal and print the answer")
	f.StringVar(&o.Format, "output-format", string(stream.Text), "with --print: text, json or stream-json")
	f.StringVar(&o.InputFormat, "input-format", TextInput, "with --print: text, or stream-json for a program that leads the conversation (adze help lines)")
	f.StringVar(&o.Model, "model", "", "the model, as `PROVIDER/NAME`; adze models lists them")
	f.StringVar(&o.Effort, "effort", "", "how hard the model thinks: `"+strings.Join(session.Efforts(), ", ")+"`; a model takes the nearest level that it knows")
	f.StringVar(&o.Agent, "agent", "", "let the agent with this `NAME` lead: its prompt, tools, model, mode and steps")
	f.BoolVarP(&o.ResumeLast, "continue", "c", false, "continue the newest session of this folder")
	f.StringVarP(&o.Resume, "resume", "r", "", "open the session with this `ID` (a unique beginning is enough); without one, choose from a list")
	f.StringVar(&o.NewID, "session-id", "", "give the new session this `ID`, so that a script can find it")
	f.BoolVar(&o.Background, "background", false, "start the session without a terminal and print its ID; adze sessions attach ID shows it, adze sessions stop ID ends it")
	f.BoolVar(&o.Detached, "detached", false, "")
	_ = f.MarkHidden("detached") // set by --background for its process
	f.StringVarP(&o.Worktree, "worktree", "w", "", "work in the git work tree with this `NAME`, on its own branch; it is created if needed (adze worktree --help)")
	f.BoolVar(&o.Fork, "fork", false, "with --continue or --resume: work in a copy")
	f.StringVar(&o.AcceptPlan, "accept-plan", "", "with --continue or --resume: accept the plan of that session and carry it out in this permission `MODE` (default edits)")
	f.Lookup("accept-plan").NoOptDefVal = string(policy.Edits)
	f.StringVar(&o.Staged, "staged", "", "with --print: keep the turn's changes staged, and then `keep, take, drop or patch=FILE`: write them to FILE and drop them; with --continue and no prompt, decide about those that wait")
	o.Flags.Add(cmd)
	f.StringSliceVar(&o.Tools, "tools", nil, `offer only these tools; --tools "" offers none`)
	f.StringSliceVar(&o.NoTools, "no-tools", nil, "do not offer these tools")
	f.IntVar(&o.MaxTurns, "max-turns", usualTurns, "most model requests per prompt; 0 for no limit")
	f.IntVar(&o.MaxCalls, "max-calls", 0, "most tool calls per prompt")
	f.IntVar(&o.MaxTokens, "max-tokens", 0, "most tokens per prompt")
	f.Float64Var(&o.MaxCost, "max-cost", 0, "most `USD` per prompt, where prices are known")
	f.DurationVar(&o.MaxTime, "max-time", 0, "most time per prompt, such as 10m")
	f.StringVar(&o.Schema, "output-schema", "", "with --print: the answer is one JSON value that fits the JSON Schema in this `FILE`")
	f.StringVar(&o.System, "system-prompt", "", "use the text of this `FILE` as the system prompt")
	f.StringVar(&o.AppendSystem, "append-system-prompt", "", "add the text of this `FILE` to the system prompt")
	f.StringArrayVar(&o.Attach, "attach", nil, "attach this image or PDF `FILE` to the prompt")
	f.StringVar(&o.Record, "record", "", "record requests and answers in a new `FILE`, with secrets masked")
	f.StringVar(&o.Replay, "replay", "", "replay a recorded `FILE` instead of asking a model; a run that differs fails and names the step")
	f.BoolVar(&o.NoSession, "no-session", false, "save nothing")
	f.BoolVar(&o.Bare, "bare", false, "read no instruction files")
	f.BoolVar(&o.Try, "try", false, "")
	f.StringVar(&o.TryPatch, "try-patch", "", "")
	_ = f.MarkDeprecated("try", "it is --permission-mode auto --staged drop now, and the result lists the changes as staged")
	_ = f.MarkDeprecated("try-patch", "it is --permission-mode auto --staged patch=FILE now, and the result lists the changes as staged")
	f.BoolVar(&o.FailOnDeny, "fail-on-deny", false, "exit with 7 when a rule, a user or the sandbox denied anything (without this flag: when every call was denied)")
	f.BoolVar(&o.TaskComplete, "task-complete", false, "offer the tool task_complete, which the model calls when its work is done")
	f.BoolVar(&o.Plain, "plain", false, "print lines instead of a screen, for screen readers and simple terminals")
	f.BoolVar(&o.Inline, "inline", false, "keep the conversation in the terminal's own scrollback instead of taking the whole screen")
	f.BoolVar(&o.Transcript, "transcript", false, "leave the conversation in the terminal when adze ends")
	f.BoolVar(&o.Demo, "demo", false, "watch a scripted model fix a small program with the real tools")
}

// AddServed adds the flags for each session opened by an editor or a browser.
func (o *Run) AddServed(c *cobra.Command) {
	f := c.Flags()
	*o = New()
	o.given = f.Changed
	f.SortFlags = false
	f.StringVar(&o.Model, "model", "", "`PROVIDER/NAME` of the model of new sessions; adze models lists both")
	f.StringVar(&o.Effort, "effort", "", "how hard the model thinks")
	f.StringVar(&o.Agent, "agent", "", "the agent of this `NAME` leads new sessions")
	o.Flags.Add(c)
	f.IntVar(&o.MaxTurns, "max-turns", usualTurns, "most model requests per prompt; 0 for no limit")
}

// Clone returns a copy with its own rules.
func (o Run) Clone() Run {
	o.Allow, o.Deny, o.Asks = slices.Clone(o.Allow), slices.Clone(o.Deny), slices.Clone(o.Asks)
	return o
}

// AnySession stands for --resume without an ID.
const AnySession = "?"

// ResumeAlone gives --resume without a value the value AnySession.
func ResumeAlone(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch {
		case arg == "--":
			return args
		case arg != "--resume" && arg != "-r":
		case i == len(args)-1 || strings.HasPrefix(args[i+1], "-"):
			args[i] = "--resume=" + AnySession
		}
	}
	return args
}

// Saves reports whether the run's session is stored.
func (o *Run) Saves() bool { return !o.NoSession && !o.Demo }

// Values for --input-format.
const (
	TextInput = "text"
	LineInput = "stream-json"
)

// checkInput checks --input-format.
func (o *Run) checkInput() error {
	switch {
	case o.InputFormat != TextInput && o.InputFormat != LineInput:
		return usage.Mistake("text or stream-json", "unknown input format %q", o.InputFormat)
	case o.InputFormat == TextInput:
		return nil
	case !o.Print:
		return usage.Mistake("add --print", "--input-format stream-json is for a program, without a terminal")
	case o.Format != string(stream.StreamJSON):
		return usage.Mistake("add --output-format stream-json", "who writes lines has to read lines")
	case o.Stdin:
		return usage.Mistake("leave - out", "stdin has the lines of --input-format, and no prompt")
	}
	return nil
}

func (o *Run) Check() error {
	if _, err := stream.ParseFormat(o.Format); err != nil {
		return usage.Mistake("adze -p --output-format stream-json …", "%v", err)
	}
	if err := o.checkInput(); err != nil {
		return err
	}
	if o.Background {
		if err := o.checkBackground(); err != nil {
			return err
		}
	}
	if o.Schema != "" && !o.Print {
		return usage.Mistake("add --print", "--output-schema needs --print")
	}
	o.former()
	if o.Effort != "" && o.Effort != session.DefaultEffort && !slices.Contains(session.Efforts(), o.Effort) {
		return usage.Mistake("one of "+strings.Join(session.Efforts(), ", ")+", or default", "there is no effort %q", o.Effort)
	}
	if o.Resume == AnySession && (o.Print || o.Fork || o.ResumeLast || o.AcceptPlan != "") {
		return usage.Mistake("adze sessions list shows the IDs", "--resume without an ID opens a list in a terminal")
	}
	if o.Resume == AnySession {
		o.Resume, o.Choose = "", true
	}
	if o.Resume != "" && o.ResumeLast {
		return usage.Mistake("use one of them", "--continue and --resume exclude each other")
	}
	if o.NewID != "" && (o.Resume != "" || o.ResumeLast || o.NoSession) {
		return usage.Mistake("leave one of them out", "--session-id names a new stored session")
	}
	if len(o.NewID) > 100 || strings.Trim(o.NewID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
		return usage.Mistake("letters, digits, . _ and -, at most 100", "--session-id %q is not the name of a session", o.NewID)
	}
	if o.Worktree != "" && o.Demo {
		return usage.Mistake("leave one of them out", "--demo has its own copy and cannot use --worktree")
	}
	if o.NoSession && (o.Resume != "" || o.ResumeLast) {
		return usage.Mistake("leave --no-session out", "--no-session cannot continue a session")
	}
	if o.Replay != "" && (o.Model != "" || o.Record != "" || o.Demo) {
		return usage.Mistake("leave the other flag out", "--replay replaces the model, and cannot record")
	}
	if o.AcceptPlan != "" {
		if err := o.checkPlan(); err != nil {
			return err
		}
	}
	if err := o.checkStaged(); err != nil {
		return err
	}
	if o.Fork && o.Resume == "" && !o.ResumeLast {
		return usage.Mistake("add --continue or --resume ID", "--fork copies a session; name one")
	}
	if o.MaxTurns < 0 || o.MaxCalls < 0 || o.MaxTokens < 0 || !(o.MaxCost >= 0) || o.MaxTime < 0 {
		return usage.Mistake("0 means unlimited", "a budget cannot be negative")
	}
	return nil
}

// checkBackground rejects flags that exclude --background.
func (o *Run) checkBackground() error {
	for _, f := range []string{"print", "output-format", "input-format", "no-session", "demo", "record", "replay", "plain", "inline", "output-schema", "try", "try-patch"} {
		if o.IsSet(f) {
			return usage.Mistake("leave one of them out", "--background and --%s exclude each other", f)
		}
	}
	return nil
}

// checkStaged checks --staged.
func (o *Run) checkStaged() error {
	switch {
	case !slices.Contains([]string{"", "keep", "take", "drop"}, o.Staged) && (!o.patches() || o.Staged == "patch="):
		return usage.Mistake("keep, take, drop or patch=FILE", "--staged %q is none of these", o.Staged)
	case o.Staged != "" && !o.Print:
		return usage.Mistake("add --print", "--staged needs --print; in a terminal /stage on has you review the changes when a turn ends")
	case o.Staged != "" && o.InputFormat != TextInput:
		return usage.Mistake("leave --staged out", "--staged is for one prompt")
	case o.Print && o.NoSession && (o.Mode == string(policy.Staged) && o.Staged == "" || o.Staged == "keep"):
		return usage.Mistake("add --staged take or --staged drop, or leave --no-session out", "--no-session keeps nothing, so no changes can wait")
	}
	return nil
}

func (o *Run) patches() bool { return strings.HasPrefix(o.Staged, "patch=") }

// former converts flags from the previous release.
func (o *Run) former() {
	if o.Try || o.TryPatch != "" {
		o.Mode, o.Staged = cmp.Or(o.Mode, string(policy.Auto)), "drop"
	}
	if o.TryPatch != "" {
		o.Staged = "patch=" + o.TryPatch
	}
}

// OnlyDecides reports whether the run only decides about waiting changes.
func (o *Run) OnlyDecides(words string) bool {
	return (o.Staged == "take" || o.Staged == "drop" || o.patches()) && words == "" && !o.Stdin && (o.ResumeLast || o.Resume != "") && o.AcceptPlan == ""
}

// checkPlan checks --accept-plan and sets the mode.
func (o *Run) checkPlan() error {
	mode, err := policy.ParseMode(o.AcceptPlan)
	switch {
	case err != nil || mode == policy.Plan:
		return usage.Mistake("--accept-plan=edits, or ask or auto", "--accept-plan leaves the plan mode for another one, which %q is not", o.AcceptPlan)
	case o.Mode != "":
		return usage.Mistake("--accept-plan="+o.Mode, "--accept-plan says the permission mode; leave --permission-mode out")
	case o.Resume == "" && !o.ResumeLast:
		return usage.Mistake("add --continue or --resume ID", "--accept-plan accepts the plan of a session; name one")
	}
	o.Mode = o.AcceptPlan
	return nil
}

// Prompt returns the prompt implied by flags, or "".
func (o *Run) Prompt() string {
	if o.AcceptPlan == "" {
		return ""
	}
	return plan.Prompt
}

// Merge applies the flags to the configuration.
func (o *Run) Merge(cfg *config.Config) {
	set := func(given bool, name string, apply func()) {
		if given {
			apply()
			cfg.Set(name, "flag --"+name)
		}
	}
	set(o.Model != "", "model", func() { cfg.Model = o.Model })
	set(o.Mode != "", "permission_mode", func() { cfg.PermissionMode = o.Mode })
	set(o.Sandbox != "", "sandbox", func() { cfg.Sandbox.Use = o.Sandbox })
	set(o.IsSet("max-turns"), "max_turns", func() { cfg.MaxTurns = o.MaxTurns })
	set(o.MaxTime > 0, "max_time", func() { cfg.MaxTime = config.Duration(o.MaxTime) })
	if o.Inline {
		cfg.Interface.Inline = true
		cfg.Set("interface", "flag --inline")
	}
	if o.FromInline {
		cfg.Interface.Inline = false
	}
}

// NamesTools reports whether the user selected the tools, including none by --tools "".
func (o *Run) NamesTools() bool {
	return len(o.Tools) > 0 || o.IsSet("tools")
}

// IsSet reports whether a flag was given.
func (o *Run) IsSet(flag string) bool { return o.given != nil && o.given(flag) }

// Limits returns the limits from flags and configuration.
func (o *Run) Limits(cfg config.Config) session.Limits {
	own := 0
	if cfg.Origin("max_turns") == "default" {
		own = usualTurns
	}
	return session.Limits{OwnRequests: own, Steps: cfg.MaxTurns, Calls: o.MaxCalls, Tokens: o.MaxTokens, Cost: o.MaxCost, Time: time.Duration(cfg.MaxTime)}
}

// Instructions returns the sources for the system prompt.
func (o *Run) Instructions() instructions.Source {
	return instructions.Source{System: o.System, Append: o.AppendSystem, Bare: o.Bare}
}

// Judge makes a finished run fail if every call was denied, or on any denial with --fail-on-deny.
func (o *Run) Judge(r session.Result) session.Result {
	if r.Cause != session.CauseDone {
		return r
	}
	if !o.FailOnDeny {
		return judgeAll(r)
	}
	calls, refused := 0, 0
	for _, d := range r.Denied {
		switch {
		case d.Kind == "":
			calls++
		case !d.Hint:
			refused++
		}
	}
	var told []string
	if calls > 0 {
		told = append(told, plural.Of(calls, "call")+map[bool]string{true: " was denied", false: " were denied"}[calls == 1])
	}
	if refused > 0 {
		told = append(told, fmt.Sprintf("the sandbox refused %s", plural.Of(refused, "thing")))
	}
	if len(told) > 0 {
		r.Cause, r.Message = session.CauseDenied, strings.Join(told, ", ")
		r.Hint = "allow them with " + allowing(r.Denied) + ", or run without --fail-on-deny"
	}
	return r
}

// judgeAll makes a run fail if every call was denied.
func judgeAll(r session.Result) session.Result {
	calls, denied := 0, 0
	for _, by := range r.Calls {
		for status, n := range by {
			calls += n
			if status == tool.Denied {
				denied += n
			}
		}
	}
	for _, d := range r.Denied {
		if d.Unanswered { // no flag allows it
			denied--
		}
	}
	if calls > 0 && denied == calls {
		r.Cause, r.Message = session.CauseDenied, "every call was denied: "+plural.Of(calls, "call")
		r.Hint = "allow them with " + allowing(r.Denied)
	}
	return r
}

// allowing returns the flags that would allow the denied calls, at most three.
func allowing(denied []session.Denial) string {
	var rules []string
	for _, d := range denied {
		for _, rule := range d.Allow {
			if !slices.Contains(rules, rule) && redact.Passwords(rule) == rule {
				rules = append(rules, rule)
			}
		}
	}
	switch {
	case len(rules) == 0:
		return "--allow"
	case len(rules) > 3:
		return policy.AllowFlags(rules[:3]) + " and so on"
	}
	return policy.AllowFlags(rules)
}

// Request is a requested run: its flags and settings without flags.
type Request struct {
	Run
	Files         workspace.FS         // file access; nil for the disk
	EditorServers []acp.Server         // MCP servers from an editor
	Asked         string               // first prompt if known before the build
	Answer        *outputschema.Schema // from Schema; nil accepts any answer
	Serves        bool                 // another program makes the calls instead of a model
	ByHand        session.Provider     // replaces the model for adze tools run
}

// Written reports whether the model is scripted. Its subagents use the same script.
func (o *Request) Written() bool { return o.Demo || o.Replay != "" || o.ByHand != nil }
