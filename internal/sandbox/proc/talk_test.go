package proc_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// TestACommandIsSpokenWith: line by line, both ways; standard error is apart, and the end of the
// talk is the end of its input.
func TestACommandIsSpokenWith(t *testing.T) {
	c := shell(`while read -r line; do echo "got $line"; echo "err $line" >&2; done; echo rest; exit 3`)
	var got []string
	c.Talk = func(in io.WriteCloser, out io.Reader) {
		answers := bufio.NewReader(out)
		for i := range 3 {
			fmt.Fprintf(in, "%d\n", i)
			line, _ := answers.ReadString('\n')
			got = append(got, strings.TrimSpace(line))
		}
	}
	r := run(t, c)
	if strings.Join(got, ", ") != "got 0, got 1, got 2" || r.Code != 3 {
		t.Errorf("%q, %+v", got, r)
	}
	if text := r.Errors.Head; text != "err 0\nerr 1\nerr 2\n" {
		t.Errorf("errors %q", text)
	}
}

// TestATalkEndsWithItsCommand: one that is killed, and whose child goes on, does not leave its
// partner waiting.
func TestATalkEndsWithItsCommand(t *testing.T) {
	c := shell(`sleep 1000 & echo ready; wait`)
	ready, ended := make(chan *proc.Process, 1), make(chan error, 1)
	c.Talk = func(in io.WriteCloser, out io.Reader) {
		buf := make([]byte, 6)
		_, _ = io.ReadFull(out, buf)
		(<-ready).End(proc.Aborted)
		_, err := io.ReadAll(out)
		ended <- err
	}
	p, err := proc.Supervisor{}.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ready <- p
	if r := p.Wait(); r.Killed != proc.Aborted || r.Survivors != 0 {
		t.Errorf("%+v", r)
	}
	<-ended
}
