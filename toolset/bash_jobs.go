package toolset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// maxJobWait is the longest wait by bash_output in seconds, below the usual proxy timeouts between
// a model and its tools.
const maxJobWait = 60

type jobReadArgs struct {
	Job  string `json:"job" doc:"id that bash returned"`
	Wait int    `json:"wait,omitempty" doc:"first wait for its end, at most this many seconds (60 is the most); default: do not wait" min:"0" max:"60"`
	All  bool   `json:"all,omitempty" doc:"the end of all it has written, not only what is new"`
}

type jobMeta struct {
	Job     string `json:"job"`
	Command string `json:"command,omitempty"`
	Running bool   `json:"running,omitempty"`
	State   string `json:"state,omitempty"`
	Text    string `json:"text,omitempty"`
	Lines   int64  `json:"lines"`
}

func bashOutput(s *Shell) tool.Tool {
	return tool.Define("bash_output", tool.Config[jobReadArgs, jobMeta]{
		Description: describe("bash_output"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"shell", "background", "job", "output", "log"},
		Aliases:     []string{"read_output", "job_output", "get_output", "task_output", "get_terminal_output"},
		Compat: tool.Compat{
			Args:    jobAliases(),
			Ignored: ignored(map[string][]any{"block": {false}}),
		},
		Safety:  tool.Safety{Safe: true},
		Output:  s.Bounds.withFoot(),
		Redact:  tool.Expose("job", "wait", "all", "command", "running", "state", "lines"),
		Needs:   func(jobReadArgs) []tool.Need { return tool.StateNeed("what a job has written") },
		Run:     jobReader{s}.run,
		View:    viewJob,
		Heading: func(in jobReadArgs, m jobMeta) tool.Heading { return headJob("output", in.Job, m) },
	})
}

type jobReader struct{ shell *Shell }

func (j jobReader) run(ctx context.Context, _ tool.Context[jobMeta], in jobReadArgs) (tool.Result[jobMeta], error) {
	if in.Wait > 0 {
		if err := j.shell.waitJob(ctx, in.Job, min(in.Wait, maxJobWait)); err != nil {
			return tool.Result[jobMeta]{Title: in.Job}, err
		}
		if ctx.Err() != nil {
			return tool.Result[jobMeta]{Title: in.Job}, ctx.Err()
		}
	}
	if in.All {
		st, end, err := j.shell.jobs.Tail(in.Job, j.shell.head()+j.shell.tail())
		if err != nil {
			return tool.Result[jobMeta]{Title: in.Job}, asFailure(err)
		}
		skipped := end.Bytes - int64(len(end.Tail))
		return j.shell.jobResult(st, jobText{end.Tail, skipped, end.Lines - outputLines(end.Tail), "(no output)"}), nil
	}
	st, piece, err := j.shell.jobs.Read(in.Job)
	if err != nil {
		return tool.Result[jobMeta]{Title: in.Job}, asFailure(err)
	}
	return j.shell.jobResult(st, fresh(piece)), nil
}

// jobText is a part of a job's output, with the size of the lost part before it.
type jobText struct {
	text         string
	bytes, lines int64
	none         string // shown if empty
}

func fresh(p proc.Piece) jobText {
	return jobText{p.Text, p.SkippedBytes, p.SkippedLines, "(no new output)"}
}

func (s *Shell) jobResult(st proc.JobStatus, part jobText) tool.Result[jobMeta] {
	text := viewOf(proc.Text{Head: part.text, Bytes: int64(len(part.text))}, s.room())
	whole := ""
	if text.cut() && s.Spill != nil {
		whole = part.text
	}
	var lines []string
	if part.bytes > 0 {
		lines = append(lines, fmt.Sprintf("(%s before this are not kept)", amount(part.lines, part.bytes)))
	}
	body := strings.TrimSuffix(text.text(""), "\n")
	if body == "" {
		body = part.none
	}
	state := jobState(st)
	lines = append(lines, body)
	if !st.Running {
		lines = append(lines, ofJob(st.Result)...)
	}
	lines = append(lines, st.ID+" "+state)
	var refused []tool.Refusal
	if !st.Running {
		refused = refusals(st.Result)
	}
	return tool.Result[jobMeta]{
		Refused: refused, Title: st.ID + ": " + oneLine(st.Command, 60), Output: strings.Join(lines, "\n"), Truncated: text.cut(), FullOutput: whole, Pending: st.Running,
		Metadata: jobMeta{
			Job: st.ID, Command: st.Command, Running: st.Running, State: state,
			Text: tailText(lastBytes(part.text, shellLiveTail)), Lines: outputLines(part.text),
		},
	}
}

func jobState(st proc.JobStatus) string {
	r := st.Result
	switch {
	case st.Running && len(st.Serves) > 0:
		return "is running and serves " + named(st.Serves, ", ")
	case st.Running:
		return "is running"
	case r.Killed == proc.Aborted:
		return "was ended"
	case r.Killed == proc.Timeout:
		return "timed out and was ended"
	case r.Killed != proc.ByItself:
		return "was ended: " + r.Err().Error()
	case r.Signal != 0:
		return "was ended by " + proc.SignalName(r.Signal)
	}
	return fmt.Sprintf("ended with exit code %d", r.Code)
}

func outputLines(s string) int64 { return int64(strings.Count(endLine(s), "\n")) }

func viewJob(m jobMeta) []tool.Block {
	blocks := tool.Output("$ "+oneLine(m.Command, 200), cmp.Or(m.Text, m.Job+" "+m.State))
	blocks[0].Total = int(m.Lines)
	return blocks
}

// waitJob waits for a job's end, with a limit in seconds.
func (s *Shell) waitJob(ctx context.Context, id string, seconds int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	_, err := s.jobs.Wait(ctx, id)
	return asFailure(err)
}

// StartedJob reports whether a bash call left a background job.
func StartedJob(o tool.Outcome) bool {
	if o.Tool != "bash" || !bytes.Contains(o.Metadata, []byte(`"job":`)) {
		return false
	}
	var m bashMeta
	return json.Unmarshal(o.Metadata, &m) == nil && m.Job != ""
}

type jobKillArgs struct {
	Job string `json:"job" doc:"id that bash returned"`
}

func bashKill(s *Shell) tool.Tool {
	return tool.Define("bash_kill", tool.Config[jobKillArgs, jobMeta]{
		Description: describe("bash_kill"),
		Permissions: tool.Permissions{}.MayUse(tool.Execute),
		// Nothing to ask: the job was allowed when it started, and only own jobs have an id.
		Needs: func(in jobKillArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Execute, Target: "the end of " + in.Job, Reach: tool.OwnStart}}
		},
		Tags:    []string{"shell", "background", "job", "stop", "end", "kill"},
		Aliases: []string{"kill_shell", "kill_job", "stop_job", "job_kill", "kill_bash", "task_stop"},
		Compat:  tool.Compat{Args: jobAliases()},
		Safety:  tool.Safety{ThreatLevel: "low"},
		Output:  s.Bounds.withFoot(),
		Redact:  tool.Expose("job", "command", "running", "state", "lines"),
		Run:     jobKiller{s}.run,
		View:    viewJob,
		Heading: func(in jobKillArgs, m jobMeta) tool.Heading { return headJob("end", in.Job, m) },
	})
}

type jobKiller struct{ shell *Shell }

func (j jobKiller) run(_ context.Context, _ tool.Context[jobMeta], in jobKillArgs) (tool.Result[jobMeta], error) {
	before, _, err := j.shell.jobs.Tail(in.Job, 1)
	if err != nil {
		return tool.Result[jobMeta]{Title: in.Job}, asFailure(err)
	}
	if _, err := j.shell.jobs.Kill(in.Job); err != nil {
		return tool.Result[jobMeta]{Title: in.Job}, asFailure(err)
	}
	st, piece, err := j.shell.jobs.Read(in.Job)
	if err != nil {
		return tool.Result[jobMeta]{Title: in.Job}, asFailure(err)
	}
	result := j.shell.jobResult(st, fresh(piece))
	if !before.Running {
		result.Output = strings.TrimSuffix(result.Output, "\n") + " before; nothing was left to end"
	}
	return result, nil
}
