package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

func newJobs(t *testing.T) *proc.Jobs {
	t.Helper()
	j := proc.NewJobs(proc.Supervisor{})
	t.Cleanup(j.Close)
	return j
}

func startJob(t *testing.T, j *proc.Jobs, script string) string {
	t.Helper()
	c := shell(script)
	c.Tag = "job"
	st, err := j.Start(script, c)
	if err != nil {
		t.Fatal(err)
	}
	return st.ID
}

// readUntil collects what Read gives until it holds want.
func readUntil(t *testing.T, j *proc.Jobs, id, want string) string {
	t.Helper()
	var all strings.Builder
	await(t, fmt.Sprintf("output %q", want), func() bool {
		_, piece, err := j.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(piece.Text)
		return strings.Contains(all.String(), want)
	})
	return all.String()
}

func TestJobIsReadPieceByPiece(t *testing.T) {
	j := newJobs(t)
	id := startJob(t, j, "echo one; sleep 1000")
	if got := readUntil(t, j, id, "one\n"); got != "one\n" {
		t.Errorf("first piece %q", got)
	}
	st, piece, err := j.Read(id)
	if err != nil || piece.Text != "" || !st.Running {
		t.Errorf("second read %+v %+v %v", st, piece, err)
	}
	if _, tail, err := j.Tail(id, 100); err != nil || tail.Tail != "one\n" {
		t.Errorf("tail %+v %v", tail, err)
	}
}

func TestJobEndsByItself(t *testing.T) {
	j := newJobs(t)
	id := startJob(t, j, "echo last words; exit 4")
	st, err := j.Wait(t.Context(), id)
	if err != nil || st.Running || st.Result.Code != 4 {
		t.Errorf("status %+v %v", st, err)
	}
	if got := readUntil(t, j, id, "words"); got != "last words\n" {
		t.Errorf("output %q", got)
	}
}

// A job that has started a server and exits goes on until the server ends.
func TestJobLastsAsLongAsItsProcesses(t *testing.T) {
	j := newJobs(t)
	id := startJob(t, j, "(while kill -0 $$ 2>/dev/null; do :; done; echo started; sleep 1000) & exit 0") // once its first process is gone
	readUntil(t, j, id, "started")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if st, err := j.Wait(done, id); err != nil || !st.Running {
		t.Errorf("status %+v %v", st, err)
	}
	st, err := j.Kill(id)
	if err != nil || st.Running || st.Result.Code != 0 || st.Result.Ended == 0 {
		t.Errorf("killed %+v %v", st, err)
	}
}

func TestKilledJob(t *testing.T) {
	j := newJobs(t)
	id := startJob(t, j, "trap '' TERM; echo up; while :; do sleep 1000; done")
	readUntil(t, j, id, "up")
	st, err := j.Kill(id)
	if err != nil || st.Running || st.Result.Killed != proc.Aborted || st.Result.Survivors != 0 {
		t.Errorf("status %+v %v", st, err)
	}
	if again, err := j.Kill(id); err != nil || again.Running {
		t.Errorf("second kill %+v %v", again, err)
	}
}

func TestJobsAreLimited(t *testing.T) {
	effort.Needs(t, effort.Short, "starts many processes")
	j := newJobs(t)
	for range proc.MaxJobs {
		startJob(t, j, "sleep 1000")
	}
	_, err := j.Start("one more", shell("true"))
	var coded *proc.Error
	if !errors.As(err, &coded) || coded.Code != proc.CodeLimit {
		t.Errorf("error %v", err)
	}
	if _, err := j.Kill("job3"); err != nil {
		t.Fatal(err)
	}
	if id := startJob(t, j, "sleep 1000"); id != fmt.Sprintf("job%d", proc.MaxJobs+1) {
		t.Errorf("id %s", id)
	}
	if got := len(j.List()); got != proc.MaxJobs+1 {
		t.Errorf("%d jobs listed", got)
	}
}

func TestCloseEndsAllJobs(t *testing.T) {
	j := proc.NewJobs(proc.Supervisor{})
	tag := newTag()
	for range 3 {
		startJob(t, j, "sleep "+tag+" & sleep "+tag)
	}
	awaitSome(t, tag, 6)
	j.Close()
	awaitNone(t, tag)
	if _, err := j.Start("late", shell("true")); err == nil {
		t.Error("a job started after the end")
	}
	j.Close()
}

func TestUnknownJobNamesTheKnown(t *testing.T) {
	j := newJobs(t)
	_, _, err := j.Read("job9")
	if err == nil || !strings.Contains(err.Error(), "no background job has been started") {
		t.Errorf("error %v", err)
	}
	startJob(t, j, "true")
	var coded *proc.Error
	if _, err = j.Kill("job9"); !errors.As(err, &coded) || coded.Code != proc.CodeNotFound || !strings.Contains(err.Error(), "job1") {
		t.Errorf("error %v", err)
	}
}

// Output beyond what is kept is counted, not lost silently.
func TestJobCountsWhatItCouldNotKeep(t *testing.T) {
	j := newJobs(t)
	id := startJob(t, j, "seq 1 200000")
	if _, err := j.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_, piece, err := j.Read(id)
	if err != nil || !strings.HasSuffix(piece.Text, "\n200000\n") || len(piece.Text) > proc.JobTail {
		t.Fatalf("piece of %d bytes, %v", len(piece.Text), err)
	}
	if got := piece.SkippedLines + int64(strings.Count(piece.Text, "\n")); got != 200000 {
		t.Errorf("lines %d", got)
	}
	if got := piece.SkippedBytes + int64(len(piece.Text)); got != piece.Bytes || got != 1288895 {
		t.Errorf("bytes %d of %d", got, piece.Bytes)
	}
}

// A command whose time is over goes on as a job: its output is read once, and neither Spill nor
// Progress nor the end of its context concerns it any more.
func TestACommandGoesOnAsAJobWhenItsTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*proc.Jobs, string)
		want func(proc.JobStatus) bool
		all  string
	}{
		{"by itself", func(j *proc.Jobs, id string) { _, _ = j.Wait(t.Context(), id) }, func(st proc.JobStatus) bool { return st.Result.Err() == nil }, "two\n"},
		{"killed", func(j *proc.Jobs, id string) { _, _ = j.Kill(id) }, func(st proc.JobStatus) bool { return st.Result.Killed == proc.Aborted }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJobs(t)
			fifo := t.TempDir() + "/fifo"
			script := "mkfifo " + fifo + "; echo one; read x <" + fifo + "; echo two"
			cmd := shell(script)
			spilled := ""
			cmd.Timeout, cmd.Progress = 200*time.Millisecond, func(proc.Progress) {}
			cmd.Spill = func(p []byte) { spilled += string(p) }
			ctx, cancel := context.WithCancel(t.Context())
			_, late, err := j.Run(ctx, script, cmd, nil)
			cancel()
			if err != nil || late == nil || late.Output.Head != "one\n" || !late.Job.Running || spilled != "one\n" {
				t.Fatalf("%+v, %v, spilled %q", late, err, spilled)
			}
			if list := j.List(); len(list) != 1 || list[0].ID != late.Job.ID || !list[0].Running {
				t.Fatalf("the jobs are %+v", list)
			}
			if c.all != "" {
				if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
					t.Fatal(err)
				}
			}
			c.end(j, late.Job.ID)
			st, piece, err := j.Read(late.Job.ID)
			if err != nil || st.Running || !c.want(st) || piece.Text != c.all || spilled != "one\n" {
				t.Errorf("%+v, read %q, spilled %q, %v", st, piece.Text, spilled, err)
			}
		})
	}
}

// A command that ends in time, that its context ends, or that no job can be made of, is no job.
func TestACommandIsNoJobWithoutNeed(t *testing.T) {
	j := newJobs(t)
	cmd := shell("echo one; exit 3")
	cmd.Timeout = time.Hour
	if r, late, err := j.Run(t.Context(), "x", cmd, nil); err != nil || late != nil || r.Code != 3 {
		t.Errorf("in time: %+v, %v, %v", r, late, err)
	}
	cmd = shell("sleep 1000")
	cmd.Timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cmd.Progress = func(proc.Progress) { cancel() }
	cmd.Argv = shell("echo; sleep 1000").Argv
	if r, late, err := j.Run(ctx, "x", cmd, nil); err != nil || late != nil || r.Killed != proc.Aborted {
		t.Errorf("aborted: %+v, %v, %v", r, late, err)
	}
	for range proc.MaxJobs {
		startJob(t, j, "sleep 1000")
	}
	cmd = shell("sleep 1000")
	cmd.Timeout = 50 * time.Millisecond
	if r, late, err := j.Run(t.Context(), "x", cmd, nil); err != nil || late != nil || r.Killed != proc.Timeout {
		t.Errorf("too many jobs: %+v, %v, %v", r, late, err)
	}
}
