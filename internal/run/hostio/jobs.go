package hostio

import (
	"time"

	"adze/internal/sandbox/proc"
	"adze/session/api"
)

// Jobs returns background commands, oldest first.
func Jobs(of *proc.Jobs) []api.Job {
	out := []api.Job{}
	for _, j := range of.List() {
		out = append(out, api.Job{ID: j.ID, Command: j.Command, Running: j.Running, Started: j.Started, Ended: ended(j)})
	}
	return out
}

// ended describes a job's end, or returns "" while it runs.
func ended(j proc.JobStatus) string {
	if j.Running {
		return ""
	}
	took := " after " + j.Result.Duration.Round(time.Second).String()
	if err := j.Result.Err(); err != nil {
		return err.Error() + took
	}
	return "exit code 0" + took
}
