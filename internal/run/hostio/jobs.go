package hostio

import (
	"time"

	"adze/internal/sandbox/proc"
	"adze/session/api"
)

// Jobs are the commands that were started to go on in the background, oldest first.
func Jobs(of *proc.Jobs) []api.Job {
	out := []api.Job{}
	for _, j := range of.List() {
		out = append(out, api.Job{ID: j.ID, Command: j.Command, Running: j.Running, Started: j.Started, Ended: ended(j)})
	}
	return out
}

// ended says how a job ended; if empty, it runs.
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
