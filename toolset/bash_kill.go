package toolset

import (
	"context"
	"strings"

	"adze/tool"
)

type jobKillArgs struct {
	Job string `json:"job" doc:"id that bash returned"`
}

func bashKill(s *Shell) tool.Tool {
	return tool.Define("bash_kill", tool.Config[jobKillArgs, jobMeta]{
		Description: describe("bash_kill"),
		Permissions: tool.Permissions{}.MayUse(tool.Execute),
		// Nothing to ask: the job was allowed when it was started, and only own jobs have an id.
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
