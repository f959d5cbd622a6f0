package hostio

import (
	"time"

	"adze/internal/sandbox/proc"
	"adze/session/api"
)

// jobTail is how much of what a job wrote is looked at, in bytes.
const jobTail = 16 << 10

// Jobs are the commands that were started to go on in the background, oldest first.
func Jobs(of *proc.Jobs) []api.Job {
	list := of.List()
	out := make([]api.Job, 0, len(list))
	for _, j := range list {
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

// JobOutput is the end of what a job wrote.
func JobOutput(of *proc.Jobs, id string) (string, error) {
	_, p, err := of.Tail(id, jobTail)
	return p.Tail, err
}

// EndJob ends a job and all that it started, and waits until that has happened.
func EndJob(of *proc.Jobs, id string) error {
	_, err := of.Kill(id)
	return err
}
