package proc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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
