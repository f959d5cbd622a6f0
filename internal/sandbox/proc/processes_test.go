package proc_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sandbox/proc"
)

func TestProcessesListsThisTest(t *testing.T) {
	list, err := proc.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.PID == os.Getpid() {
			if p.Parent != os.Getppid() || p.Memory < 1<<20 || !strings.Contains(p.Command, "test") {
				t.Errorf("told as %+v", p)
			}
			return
		}
	}
	t.Errorf("not among %d processes", len(list))
}

func TestBelow(t *testing.T) {
	list := []proc.Info{{PID: 2, Parent: 9}, {PID: 3, Parent: 1}, {PID: 9, Parent: 5}, {PID: 5, Parent: 1}}
	want := []proc.Info{{PID: 2, Parent: 9}, {PID: 9, Parent: 5}, {PID: 5, Parent: 1}}
	if diff := cmp.Diff(want, proc.Descendants(list, 5)); diff != "" {
		t.Error(diff)
	}
}
