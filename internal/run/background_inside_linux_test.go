package run

import (
	"os/exec"
	"testing"
	"time"

	"adze/internal/sessiondb"
)

// TestAProcessThatNobodyReapsHasEnded: in a container whose first process reaps nothing, a session
// in the background stays a zombie, and adze sessions stop must not wait for it.
func TestAProcessThatNobodyReapsHasEnded(t *testing.T) {
	c := exec.Command("true")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1)) // until it has closed its output, which it does when it ends
	for end := time.Now().Add(time.Minute); sessiondb.Running(c.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is taken for one that runs")
		}
	}
	if err := awaitEnd(t.Context(), c.Process.Pid); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // it was not waited for before
}
