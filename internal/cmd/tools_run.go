package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/policy"
	"adze/internal/sessiondb/audit"
	"adze/internal/stream"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// maxArguments limits stdin, in bytes; more would not fit any model.
const maxArguments = 10 << 20

const argsHelp = "the arguments as a `JSON` object; @FILE reads them from a file, - from stdin"

// toolsTest returns adze tools test, which decodes arguments and runs nothing.
func (a *all) toolsTest() *cobra.Command {
	var arguments string
	c := &cobra.Command{Use: "test NAME --args JSON", Annotations: CallableByTools(), Short: "Check a call as a model would make it, without running it", Args: RangeArgs(1, 1),
		Long: "Looks the tool up, parses, repairs at most once, validates, and prints the structured result.\nExits with 0 when the call could run, else with 2.",
		Example: `  adze tools test read --args '{"path": "go.mod"}'
  adze tools test read_file --args '{"file_path": "go.mod"}'   # an alias, and a repair`,
		RunE: func(c *cobra.Command, words []string) error { return a.testCall(c.Context(), words[0], arguments) }}
	c.Flags().StringVar(&arguments, "args", "{}", argsHelp)
	return c
}

func (a *all) testCall(ctx context.Context, name, arguments string) error {
	arguments, err := a.argumentText(arguments)
	if err != nil {
		return err
	}
	return a.Tools(ctx, func(set *tool.Set) error {
		h := (&tool.Runner{}).Hydrate(ctx, set, []tool.RawCall{{ID: "test", Name: name, Arguments: arguments}})[0]
		raw, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if err := a.pretty("", raw); err != nil || h.OK {
			return err
		}
		f := h.Errors[0]
		a.Conclude(session.CauseUsage, fmt.Sprintf("%s at %s: %s", f.Code, f.Stage, strings.TrimSpace(f.Path+" "+f.Message)), invalidHint(f.Code, name))
		return nil
	})
}

func (a *all) argumentText(value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	switch {
	case value == "-":
		raw, err := io.ReadAll(io.LimitReader(a.In, maxArguments+1))
		if err == nil && len(raw) > maxArguments {
			err = fmt.Errorf("stdin is longer than %d MiB", maxArguments>>20)
		}
		if err != nil {
			return "", usage.Mistake("give less, or a file", "--args: %v", err)
		}
		return string(raw), nil
	case isFile:
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", usage.Mistake("check the path", "--args: %v", err)
		}
		return string(raw), nil
	}
	return value, nil
}

// toolsRun returns adze tools run, one call through the whole pipeline.
func (a *all) toolsRun() *cobra.Command {
	var call Call
	var arguments string
	c := &cobra.Command{Use: "run NAME --args JSON", Annotations: CallableByTools(), Short: "Run one call by hand through the whole pipeline", Args: RangeArgs(1, 1),
		Long: "The call is checked, permitted, run, bounded and recorded as a model's call is, in a session of its own.\nNobody is asked: what rules and mode leave open is denied.\n" +
			"Exits with 0 completed, 2 invalid, 7 denied, 8 failed, 6 out of time, 130 interrupted.",
		Example: `  adze tools run read --args '{"path": "go.mod", "limit": 5}'
  adze tools run bash --args '{"command": "go vet ./..."}' --allow 'execute(go vet **)'
  echo '{"path": "a", "content": "x"}' | adze tools run write --args - --allow write --json`,
		RunE: func(c *cobra.Command, words []string) error {
			return a.runByHand(call, words[0], arguments, Flagged(c, "json"))
		}}
	call.Add(c)
	f := c.Flags()
	f.StringVar(&arguments, "args", "{}", argsHelp)
	f.DurationVar(&call.MaxTime, "max-time", 0, "time the call may take, such as 10m")
	f.BoolVar(&call.NoSession, "no-session", false, "save nothing")
	f.Bool("json", false, "print the outcome with its audit record as one line of JSON")
	return c
}

func (a *all) runByHand(call Call, name, arguments string, asJSON bool) error {
	arguments, err := a.argumentText(arguments)
	if err != nil {
		return err
	}
	if call.MaxTime < 0 {
		return usage.Mistake("0 means unlimited", "a budget cannot be negative")
	}
	call.Prompt, call.Model = "adze tools run "+name, &byHand{tool.RawCall{ID: "by-hand", Name: name, Arguments: arguments}}
	return a.Call(call, func(c CallResult) {
		for _, notice := range c.Notices {
			fmt.Fprintln(stream.Masked{Writer: a.Err, Masker: a.Mask()}, "adze: "+notice)
		}
		if c.End == nil {
			a.Conclude(c.Result.Cause, c.Result.Message, c.Result.Hint)
			return
		}
		a.report(c.Session, *c.End, c.Result, asJSON)
	})
}

// report prints the result and sets the exit code.
func (a *all) report(id session.ID, end session.ToolEnd, result session.Result, asJSON bool) {
	o := end.Outcome
	cause, hint := causeOfCall(o, result)
	a.Conclude(cause, "", "")
	if asJSON {
		a.ShowJSON(handLine(id, end, a.Exit))
	} else if o.Output != "" {
		fmt.Fprintln(a.Stdout(), strings.TrimSuffix(safeterm.Clean(o.Output).String(), "\n"))
	}
	if cause != session.CauseDone {
		a.Conclude(cause, fmt.Sprintf("%s %s: %s", o.Tool, o.Status, cmp.Or(result.Message, o.Code)), hint)
	}
}

// causeOfCall maps a call's outcome to the causes that have exit codes.
func causeOfCall(o tool.Outcome, r session.Result) (session.Cause, string) {
	switch r.Cause {
	case session.CauseDone:
	case session.CauseBudget:
		return r.Cause, "give it more with --max-time"
	default:
		return r.Cause, r.Hint
	}
	switch o.Status {
	case tool.Completed:
		return session.CauseDone, ""
	case tool.Invalid:
		return session.CauseUsage, invalidHint(o.Code, o.Tool)
	case tool.Denied:
		return session.CauseDenied, DeniedHint(o.Record)
	}
	return session.CauseTool, "adze audit show shows the record"
}

func invalidHint(code, name string) string {
	if code == tool.CodeUnknownTool {
		return "adze tools list shows the tools"
	}
	return "adze tools schema " + name + " shows what it takes"
}

// DeniedHint names the rule that denied a call, or the way to allow it.
func DeniedHint(r tool.Record) string {
	for _, d := range r.Decisions {
		switch {
		case d.Allow:
			continue
		case d.Rule != "":
			return fmt.Sprintf("the rule %q (%s) denies it", d.Rule, d.Layer)
		case !d.Asked && d.Layer == "built in":
			return "adze refuses this itself, whatever rules and mode say"
		case d.Need != nil && d.Need.Reach == tool.Anything:
			return "the tool does not say what it touches: no rule can allow that, only a person or --yolo"
		case len(d.Offers) > 0:
			return "allow it with " + policy.AllowFlags(d.Offers) + ", or choose another --permission-mode"
		case d.Need != nil && d.Need.Permission == tool.Execute:
			return "adze permission test COMMAND shows which rule would allow it; then give that with --allow"
		}
	}
	return "allow it with --allow RULE, or choose another --permission-mode"
}

// handResult is the --json line.
type handResult struct {
	Session     session.ID      `json:"session"`
	Call        tool.CallID     `json:"call"`
	Tool        string          `json:"tool"`
	Status      tool.Status     `json:"status"`
	Code        string          `json:"code,omitempty"`
	ExitCode    int             `json:"exit_code"`
	Title       string          `json:"title,omitempty"`
	Output      string          `json:"output"`
	Truncated   bool            `json:"truncated"`
	OutputFile  string          `json:"output_file,omitempty"`
	Attachments []string        `json:"attachments,omitempty"` // name and type; the session has the data
	Changed     []string        `json:"files_changed,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"` // the part that the tool allows in logs
	Millis      int64           `json:"duration_ms"`
	Record      tool.Record     `json:"record"`
}

func handLine(id session.ID, end session.ToolEnd, exit int) handResult {
	o := end.Outcome
	r := handResult{
		Session: id, Call: o.Call, Tool: o.Tool, Status: o.Status, Code: o.Code, ExitCode: exit, Title: o.Title,
		Output: o.Output, Truncated: o.Truncated, OutputFile: o.OutputFile, Changed: o.Changed, Metadata: end.Redacted,
		Millis: o.Duration.Milliseconds(), Record: o.Record.Public(),
	}
	for _, a := range o.Attachments {
		r.Attachments = append(r.Attachments, a.Name+" ("+a.MediaType+")")
	}
	return r
}

// byHand is a model that makes one call, which then goes through the normal pipeline.
type byHand struct{ call tool.RawCall }

func (b *byHand) Name() string { return audit.Hand }

// Stream answers the prompt with the call, and the call's result with a sentence for a user who
// resumes the session.
func (b *byHand) Stream(_ context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		if r.Messages[len(r.Messages)-1].Role == session.User {
			if yield(session.Call{RawCall: b.call}) {
				yield(session.Done{Stop: session.StopCalls})
			}
			return
		}
		if yield(session.Text{Delta: "This call was made by hand with adze tools run."}) {
			yield(session.Done{Stop: session.StopEnd})
		}
	}
}
