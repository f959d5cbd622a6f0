package toolset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/tool"
)

type bashArgs struct {
	Command     string `json:"command" doc:"command line for bash" offer:"plain"`
	Description string `json:"description,omitempty" doc:"what it does in five to ten words, for the person"`
	Timeout     int    `json:"timeout,omitempty" doc:"seconds" min:"1"`
	Workdir     string `json:"workdir,omitempty" doc:"default: the workspace" offer:"plain"`
	Background  bool   `json:"background,omitempty" doc:"start a job that goes on after the call, such as a server" offer:"plain"`
}

// bashMeta is drawn by panes during and after a command. It holds no clock value while running.
type bashMeta struct {
	Command   string         `json:"command"`
	Workdir   string         `json:"workdir,omitempty"`
	Tail      string         `json:"tail,omitempty"`
	Lines     int64          `json:"lines"`
	Bytes     int64          `json:"bytes"`
	Running   bool           `json:"running,omitempty"`
	Exit      *int           `json:"exit,omitempty"`   // nil while running and after a signal
	Signal    string         `json:"signal,omitempty"` // the fatal signal
	Killed    string         `json:"killed,omitempty"` // timeout, abort or limit
	Ended     int            `json:"ended,omitempty"`  // processes left running
	Survivors int            `json:"survivors,omitempty"`
	Millis    int64          `json:"duration_ms,omitempty"`
	Job       string         `json:"job,omitempty"`
	File      string         `json:"file,omitempty"`    // the full output if it is long
	Sandbox   string         `json:"sandbox,omitempty"` // the sandbox's level and implementation
	Refused   []tool.Refusal `json:"refused,omitempty"` // the sandbox's refusals
}

func bash(f files, s *Shell) tool.Tool {
	return tool.Define("bash", tool.Config[bashArgs, bashMeta]{
		Parameters:     bashSchema(s),
		ProviderSchema: s.named(bashOffer(f.brief)),
		Description: describe(s.words(f), limits{
			"timeout": int(s.Timeout.Seconds()), "max": int(s.MaxTimeout.Seconds()), "jobs": proc.MaxJobs,
		}),
		Permissions: tool.Requires(tool.Execute).MayUse(tool.Read, tool.Write, tool.Network),
		Tags:        []string{"shell", "command", "terminal", "run", "test", "build", "git"},
		Aliases: []string{
			"run_command", "shell", "execute", "run_shell_command", "execute_command", "shell_command", "exec_command", "run_terminal_cmd",
			"run_terminal_command", "run_in_terminal", "execute_bash", "exec", "terminal",
		},
		Compat: tool.Compat{
			Similar: []string{"delete_file", "move_file", "write_stdin"},
			Args: map[string]string{
				"cmd": "command", "command_line": "command", "cwd": "workdir", "dir": "workdir", "directory": "workdir", "dir_path": "workdir",
				"working_dir": "workdir", "working_directory": "workdir", "work_dir": "workdir", "run_in_background": "background", "is_background": "background",
				"timeout_seconds": "timeout", "timeout_secs": "timeout",
			},
			Ignored: ignored(map[string][]any{
				"justification": nil, "security_risk": nil, "sandbox_permissions": {"use_default"}, "with_escalated_permissions": {false},
				"dangerously_disable_sandbox": {false}, "requires_approval": {false}, "require_user_approval": {false}, "tty": {false},
				"shell": {"bash", "/bin/bash", "/usr/bin/bash"}, "is_input": {false, "false"}, "restart": {false},
				"login": nil, "yield_time_ms": nil, "max_output_tokens": nil, "max_output_length": nil,
			}),
			Adapt: func(args map[string]any) {
				take(args, "prefix_rule") // only the user makes rules
				asLine(args)
				inSeconds(args, int(s.MaxTimeout.Seconds()))
			},
		},
		Safety:       tool.Safety{ThreatLevel: "high"},
		Output:       s.Bounds.withFoot(),
		Capabilities: tool.Capabilities{Streaming: true, Background: true},
		Redact: tool.Expose("command", "description", "timeout", "workdir", "background",
			"lines", "bytes", "exit", "signal", "killed", "ended", "survivors", "duration_ms", "job", "file", "sandbox", "refused"),
		Needs: func(in bashArgs) []tool.Need {
			needs := []tool.Need{{Permission: tool.Execute, Target: in.Command, Dir: in.Workdir, Sandboxed: true, Separable: !in.Background, OutlivesCall: in.Background}}
			if in.Workdir != "" {
				needs = append(needs, tool.Need{Permission: tool.Read, Target: in.Workdir})
			}
			return needs
		},
		Check:    basher{f, s}.check,
		Editable: "command",
		Preview: func(_ context.Context, in bashArgs) (bashMeta, error) {
			return bashMeta{Command: in.Command, Workdir: in.Workdir}, nil
		},
		Run:  basher{f, s}.run,
		View: viewBash, Heading: headBash,
	})
}

// bashSchema returns the arguments' schema with the user's longest timeout as maximum, so that a
// longer one is reduced before anybody is asked.
func bashSchema(s *Shell) json.RawMessage {
	whole, err := tool.SchemaOf[bashArgs]()
	const least = `"minimum":1`
	if err != nil || bytes.Count(whole, []byte(least)) != 1 {
		return nil // derived as it is; the tool still refuses longer ones
	}
	whole = bytes.Replace(whole, []byte(least), fmt.Appendf(nil, `%s,"maximum":%d`, least, int(s.MaxTimeout.Seconds())), 1)
	return s.named(whole)
}

func (s *Shell) named(schema json.RawMessage) json.RawMessage {
	if s.Program.Kind == proc.Bash {
		return schema
	}
	return bytes.Replace(schema, []byte("command line for bash"), []byte("command line for "+s.Program.Name), 1)
}

// bashOffer returns the schema for models.
func bashOffer(brief bool) json.RawMessage {
	if !brief {
		view, _ := tool.OfferOf[bashArgs]() // registration reports errors
		return view
	}
	return compactSchema[bashArgs](brief, "command", "timeout: seconds", "workdir: folder to run in")
}

type basher struct {
	files
	shell *Shell
}

func (b basher) run(ctx context.Context, c tool.Context[bashMeta], in bashArgs) (tool.Result[bashMeta], error) {
	meta := bashMeta{Command: in.Command, Workdir: in.Workdir}
	title := in.Description
	if title == "" {
		title = oneLine(in.Command, 80)
	}
	result := tool.Result[bashMeta]{Title: title, Metadata: meta}
	dir, err := b.admit(ctx, c.Ask, in)
	if err != nil {
		return result, err
	}
	text := judgedText(in.Command, c.Reading)
	argv, plain := b.shell.argv(text, b.root.Dir())
	env, guarded := b.shell.Env, false
	if c.ByRule {
		env, guarded = b.guard(ctx, in.Command, dir, c.Reading)
	}
	if c.Reading != nil && c.Reading.Argv != nil {
		argv, plain, env = c.Reading.Argv, false, slices.Concat(env, c.Reading.Env)
	}
	cmd := proc.Command{
		Argv: argv, Dir: dir, Env: env, Tag: string(c.CallID), MaxOutput: maxOutput,
		Timeout: time.Duration(in.Timeout) * time.Second, Mask: b.shell.Mask, Reach: reaching(c.Ask), Local: reachingHere(c.Ask), RequireWalls: c.Reading != nil && c.Reading.Sandboxed,
	}
	x := &bashCall{basher: b, call: c, result: result, in: in, plain: plain, guarded: guarded}
	if err := x.leave(ctx, &cmd); err != nil {
		return result, err
	}
	if in.Background {
		return x.start(cmd)
	}
	return x.wait(ctx, cmd)
}

type bashCall struct {
	basher
	call  tool.Context[bashMeta]
	in    bashArgs
	plain bool // run by sh, without bash
	// guarded: the repository's program settings were disabled.
	guarded bool
	result  tool.Result[bashMeta]
	limit   time.Duration // a duration
	decided []string      // results of the command's separate changes
	left    string        // result of the offer to run it outside the sandbox; "" if none was made
	spill   spiller
	// declared is the declared tool's file, or "" for bash itself.
	declared string
}

func (x *bashCall) start(cmd proc.Command) (tool.Result[bashMeta], error) {
	job, err := x.shell.jobs.Start(x.in.Command, cmd)
	if err != nil {
		return x.result, asFailure(err)
	}
	x.result.Metadata.Job, x.result.Metadata.Running, x.result.Metadata.Sandbox = job.ID, true, job.Sandbox
	x.result.Sandbox = job.Sandbox
	x.result.Output = strings.Join(append(x.notes(proc.Result{}), fmt.Sprintf(
		"started %s; read its output with bash_output, end it with bash_kill; it ends with the session", job.ID)), "\n")
	return x.result, nil
}

// wait runs the command to its end and streams its output.
func (x *bashCall) wait(ctx context.Context, cmd proc.Command) (tool.Result[bashMeta], error) {
	if cmd.Timeout == 0 {
		cmd.Timeout = x.shell.Timeout
	}
	x.limit = cmd.Timeout
	cmd.Head, cmd.Tail, cmd.ProgressTail = headKept, tailKept, shellLiveTail
	cmd.Transaction, cmd.ReviewChanges = true, !x.planned()
	if x.planned() {
		cmd.KeepChanges, cmd.Reach, cmd.Local = true, nil, nil
	}
	cmd.Progress = x.progress()
	if x.shell.Spill != nil {
		x.spill.keep = headKept + tailKept
		x.spill.open = func() (io.WriteCloser, string, error) { return x.shell.Spill(x.call.CallID) }
		cmd.Spill, cmd.MaxSpill = x.spill.take, maxSpill
	}
	staged := x.root.Staged() != nil
	if staged {
		cmd.ResolveDir = x.root.OpenPath(cmd.Dir)
	}
	start := x.shell.Now()
	r, late, err := x.shell.wait(ctx, cmd, x.overtime(cmd))
	if err != nil {
		return x.result, asFailure(err)
	}
	if late != nil {
		return x.goesOn(late)
	}
	if staged && x.shell.OnRun != nil {
		x.shell.OnRun(ranOf(x.in.Command, r, x.masked))
	}
	if r.Pending != nil {
		ended := x.shell.Now()
		x.decide(ctx, &r)
		start = start.Add(x.shell.Now().Sub(ended)) // the user's time does not count
	}
	if x.planned() {
		x.result.Refused = refusals(r)
	} else if r, late, err = x.outside(ctx, cmd, r); err != nil {
		return x.result, asFailure(err)
	} else if late != nil {
		return x.goesOn(late)
	}
	r.Duration = x.shell.Now().Sub(start)
	return x.conclude(r)
}

// overtime names the job that a command becomes at its time limit. It returns "" for a command that
// ends then: nobody could read its output later, its changes wait for a decision in this call, or
// the user has set its time.
func (x *bashCall) overtime(cmd proc.Command) string {
	if x.shell.EndsAtLimit || cmd.KeepChanges || x.declared != "" || x.root.Staged() != nil {
		return ""
	}
	return x.in.Command
}

// goesOn returns the result for a command turned into a job.
func (x *bashCall) goesOn(late *proc.Overdue) (tool.Result[bashMeta], error) {
	r := proc.Result{Code: -1, Output: late.Output, Duration: x.limit, Sandbox: late.Job.Sandbox}
	lines, path := x.output(r)
	x.describe(r, path)
	x.result.Metadata.Job, x.result.Metadata.Running = late.Job.ID, true
	said := fmt.Sprintf("still running after %s, so it goes on as %s: read on with bash_output, end it with bash_kill; ", x.limit, late.Job.ID)
	if late.Job.Apart {
		said += "the changes it makes to files are applied when it ends; "
	}
	lines = append(append(lines, x.notes(proc.Result{})...), said+"it ends with the session")
	x.result.Output = strings.Join(lines, "\n")
	return x.result, nil
}

func (x *bashCall) progress() func(proc.Progress) {
	title, live := x.result.Title, x.result.Metadata
	live.Running = true
	x.call.Metadata(title, live)
	var mu sync.Mutex
	return func(p proc.Progress) {
		mu.Lock()
		defer mu.Unlock()
		live.Tail, live.Lines, live.Bytes = tailText(p.Tail), p.Lines, p.Bytes
		x.call.Metadata(title, live)
	}
}

// output returns the lines of the output, and the path to the full output.
func (x *bashCall) output(r proc.Result) (lines []string, path string) {
	said := viewOf(r.Output, x.shell.room())
	cut := said.cut()
	path, err := x.spill.close(cut)
	where := "redirect to a file to read it all"
	switch {
	case err != nil:
		where += ", because it could not be stored: " + err.Error()
	case r.Output.Bytes > maxSpill && path != "":
		where = fmt.Sprintf("the first %d MiB are in %s; read it with offset and limit, or grep it", maxSpill>>20, path)
	case path != "":
		where = "the whole is in " + path + "; read it with offset and limit, or grep it"
	}
	x.result.OutputFile, x.result.Truncated = path, cut
	lines = []string{strings.TrimSuffix(said.text(where), "\n")}
	if r.Output.Bytes == 0 {
		lines[0] = noOutput
	}
	return lines, path
}

// conclude returns the result. A failed command is an error with its output.
func (x *bashCall) conclude(r proc.Result) (tool.Result[bashMeta], error) {
	lines, path := x.output(r)
	x.describe(r, path)
	lines = append(lines, x.notes(r)...)
	if x.shell.Mask != nil && strings.Contains(lines[0], redact.Mark) {
		lines = append(lines, redact.Note)
	}
	if verdict := x.verdict(r); verdict != nil {
		x.result.Output = strings.Join(lines, "\n")
		return x.result, verdict
	}
	end := exitLine + " after " + short(r.Duration)
	x.result.Output = strings.Join(append(lines, end), "\n")
	return x.result, nil
}

func (x *bashCall) describe(r proc.Result, file string) {
	m := &x.result.Metadata
	last := r.Output.Tail
	if last == "" {
		last = r.Output.Head
	}
	m.Tail = tailText(lastBytes(last, shellLiveTail))
	m.Lines, m.Bytes = r.Output.Lines, r.Output.Bytes
	m.Killed, m.Ended, m.Survivors = string(r.Killed), r.Ended, r.Survivors
	m.Millis, m.File, m.Sandbox = r.Duration.Milliseconds(), file, r.Sandbox
	x.result.Sandbox = r.Sandbox
	m.Refused = x.result.Refused
	for _, c := range r.Traffic {
		x.result.Traffic = append(x.result.Traffic, tool.HostTraffic(c))
	}
	if r.Signal != 0 {
		m.Signal = proc.SignalName(r.Signal)
	} else if r.Code >= 0 {
		m.Exit = &r.Code
	}
}

// verdict returns nil for exit code 0, else an error with the cause and the next step.
func (x *bashCall) verdict(r proc.Result) error {
	after := short(r.Duration)
	switch r.Killed {
	case proc.Timeout:
		if x.declared != "" {
			return tool.Fail(tool.CodeTimeout, "timed out after %s and was ended; ask for less, or let the user raise timeout in %s", x.limit, x.declared)
		}
		return tool.Fail(tool.CodeTimeout, "timed out after %s and was ended; give a longer timeout (at most %d)%s",
			x.limit, int(x.shell.MaxTimeout.Seconds()), x.unlessBrief(" or use background: true"))
	case proc.Aborted:
		return tool.Fail(tool.CodeAborted, "aborted after %s; all its processes were ended", after)
	case proc.Limited:
		return tool.Fail(tool.CodeLimit, "ended after %s because it wrote %d bytes; filter its output or redirect it to a file", after, r.Output.Bytes)
	case proc.TooMuchMemory:
		return tool.Fail(tool.CodeLimit, "ended after %s because all its processes together took more memory than the sandbox allows; do less at a time, or ask the user to run it", after)
	case proc.TooManyProcesses:
		return tool.Fail(tool.CodeLimit, "ended after %s because it started more processes than the sandbox allows; do less at a time", after)
	case proc.Lost:
		return tool.Fail(tool.CodeIO, "its supervising process was killed after %s, so it was ended too; do not kill parent processes", after)
	}
	switch {
	case r.Signal != 0:
		return tool.Fail(tool.CodeExit, "ended by %s after %s", proc.SignalName(r.Signal), after)
	case r.Code != 0:
		return tool.Fail(tool.CodeExit, "exit code %d after %s", r.Code, after)
	}
	return nil
}

// admit returns the command's directory, or an error if it cannot run.
func (b basher) admit(ctx context.Context, ask asker, in bashArgs) (dir string, err error) {
	if err := b.sound(in); err != nil {
		return "", err
	}
	return b.workdir(ctx, ask, in.Workdir)
}

// check reports an empty command, and a missing folder if it may be looked at.
func (b basher) check(ctx context.Context, c tool.Context[bashMeta], in bashArgs) error {
	if err := b.sound(in); err != nil || in.Workdir == "" {
		return err
	}
	if err := c.Ask(ctx, tool.Need{Permission: tool.Read, Target: in.Workdir}); err != nil {
		return err
	}
	_, err := b.workdir(ctx, c.Ask, in.Workdir)
	return err
}

// callsPatch matches apply_patch, known to models from elsewhere, at the start of a command.
var callsPatch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(^|[;&|(])\s*apply_?patch\b`) })

func (b basher) sound(in bashArgs) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tool.Fail(tool.CodeInvalidArguments, "the command is empty; give a command line")
	case strings.Contains(in.Command, "*** Begin Patch") && callsPatch().MatchString(in.Command):
		return tool.Fail(tool.CodeInvalidArguments, "apply_patch is no program here, and nothing was run; call the tool apply_patch with the patch as input, or edit")
	case strings.Contains(in.Command, redact.Mark):
		return tool.Fail(tool.CodeInvalidArguments, "the command holds %s, which stands for a secret that you were not shown and is not its value; leave it to the user, or name a variable or file that holds it", redact.Mark)
	case len(in.Command) > maxCommand:
		return tool.Fail(tool.CodeTooLarge, "the command has %d bytes, at most %d; write it to a file and run that", len(in.Command), maxCommand)
	case time.Duration(in.Timeout) > b.shell.MaxTimeout/time.Second:
		return tool.Fail(tool.CodeInvalidArguments, "timeout is in seconds and at most %d%s",
			int(b.shell.MaxTimeout.Seconds()), b.unlessBrief("; for longer work use background: true"))
	}
	return nil
}

func viewBash(m bashMeta) []tool.Block {
	title := "$ " + oneLine(m.Command, 200)
	if m.Workdir != "" {
		title = m.Workdir + " " + title
	}
	blocks := tool.Output(title, cmp.Or(endLine(m.Tail), bashState(m)))
	blocks[0].Total = int(m.Lines)
	return blocks
}

// bashState returns one line for a command without output, or "" before it runs.
func bashState(m bashMeta) string {
	took := short(time.Duration(m.Millis) * time.Millisecond)
	switch {
	case m.Job != "":
		return "background " + m.Job
	case m.Running:
		return ""
	case m.Killed != "":
		return "ended by " + m.Killed + " after " + took
	case m.Signal != "":
		return "ended by " + m.Signal + " after " + took
	case m.Exit != nil:
		return fmt.Sprintf("exit %d · %s · %s", *m.Exit, took, plural.Of(m.Lines, "line"))
	}
	return ""
}
