package sessiondb_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

// Children of these tests are this test binary, told what to do by the environment.
const (
	childTask = "ADZE_STORE_CHILD"
	childPath = "ADZE_STORE_PATH"
	childID   = "ADZE_STORE_ID"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childTask); task != "" {
		os.Exit(child(task, os.Getenv(childPath), session.ID(os.Getenv(childID))))
	}
	os.Exit(m.Run())
}

// child appends and says "N" on its output after each acknowledged entry, or what stopped it.
func child(task, path string, id session.ID) int {
	s, err := sessiondb.Open(context.Background(), path, sessiondb.Options{})
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	limit := 1 << 30
	if task == "some" {
		limit = 200
	}
	if task == "small-disk" {
		limitFileSize(path)
	}
	for n := 1; n <= limit; n++ {
		e := storeEntry(n)
		if task == "large" {
			e = largeEntry(n)
		}
		if err := s.Append(context.Background(), id, e); err != nil {
			fmt.Println("append:", err)
			fmt.Println("again:", s.Append(context.Background(), id, storeEntry(n)))
			return 1
		}
		fmt.Println(n)
	}
	fmt.Println("close:", s.Close())
	return 0
}

type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, task, path string, id session.ID) process {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childTask+"="+task, childPath+"="+path, childID+"="+string(id))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return process{c, bufio.NewScanner(out)}
}

// acknowledged reads the child's output to its end, or until it said enough and was killed, and
// returns the last number it said and the lines that were none.
func (p process) acknowledged(t *testing.T, enough int) (last int, rest []string) {
	t.Helper()
	for p.lines.Scan() {
		var n int
		if _, err := fmt.Sscanf(p.lines.Text(), "%d", &n); err != nil {
			rest = append(rest, p.lines.Text())
			continue
		}
		last = n
		if n == enough {
			p.Process.Kill() // what it said after that is still in the pipe, and counts
		}
	}
	p.Wait()
	return last, rest
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for round, enough := range []int{1, 37, 200} {
		id := session.ID(fmt.Sprint("round", round))
		last, rest := start(t, "endless", path, id).acknowledged(t, enough)
		if last < enough {
			t.Fatalf("the child stopped at %d: %v", last, rest)
		}
		s := mustOpen(t, path)
		if s.Salvaged() != nil {
			t.Fatalf("a kill damaged the file: %v", s.Salvaged())
		}
		n, err := s.Verify(t.Context(), id)
		if err != nil || n < last {
			t.Errorf("killed after %d acknowledged entries: %d sound ones, %v", last, n, err)
		}
		// The lock died with its holder, and the chain goes on.
		if err := s.Append(t.Context(), id, storeEntry(0)); err != nil {
			t.Error(err)
		}
		if m, err := s.Verify(t.Context(), id); m != n+1 || err != nil {
			t.Errorf("after going on: %d sound entries, want %d, %v", m, n+1, err)
		}
		s.Close()
	}
}

func TestTwoProcessesWriteTheirSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "s.db") // both make it
	var wg sync.WaitGroup
	for _, id := range []session.ID{"a", "b"} {
		p := start(t, "some", path, id)
		wg.Go(func() {
			if last, rest := p.acknowledged(t, -1); last != 200 || strings.Join(rest, "") != "close: <nil>" {
				t.Errorf("%s: stopped at %d: %v", id, last, rest)
			}
		})
	}
	wg.Wait()
	s := mustOpen(t, path)
	for _, id := range []session.ID{"a", "b"} {
		if n, err := s.Verify(t.Context(), id); n != 200 || err != nil {
			t.Errorf("%s: %d sound entries, %v", id, n, err)
		}
	}
}

func TestTwoProcessesDoNotShareASession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	holder := start(t, "endless", path, "one")
	if !holder.lines.Scan() {
		t.Fatal("the holder said nothing")
	}
	_, rest := start(t, "some", path, "one").acknowledged(t, -1)
	if got := strings.Join(rest, "\n"); !strings.Contains(got, fmt.Sprintf("pid %d", holder.Process.Pid)) {
		t.Errorf("the second process was not told who is first: %s", got)
	}
}
