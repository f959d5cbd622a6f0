package proc_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/sandbox/proc"
	"adze/internal/sandbox/proc/shim"
	"adze/internal/testkit/effort"
)

// watched runs a script below a watch and returns what was told.
func watched(t *testing.T, dir, script string) (told []string, seen bool) {
	t.Helper()
	var mu sync.Mutex
	ended := false
	s := proc.Supervisor{Watch: func(proc.Command) *proc.Watch {
		return &proc.Watch{Root: dir,
			Seen: func() { seen = true },
			Wrote: func(path string, below bool) {
				mu.Lock()
				defer mu.Unlock()
				if below {
					path += "/"
				}
				told = append(told, path)
			},
			Ended: func() { ended = true }}
	}}
	r, err := s.Run(context.Background(), proc.Command{Argv: []string{"sh", "-c", script}, Dir: dir, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != 0 || !ended {
		t.Fatalf("%s: %+v, ended %v", script, r, ended)
	}
	slices.Sort(told)
	return told, seen
}

func TestWhatACommandChangesIsTold(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("without root nobody sees what a command outside of a sandbox changes")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"echo a > a; echo b >> b; : > sub.txt", "a b sub.txt"},
		{"mkdir -p d/e; echo x > d/e/f; ln -s d l; echo y > l/g", "d d/e d/e/f d/g l"},
		{"mv d moved; mv a a2", "a/ a2/ d/ moved/"},
		{"rm -r moved l b; chmod 600 a2", "a2 b l moved moved/e moved/e/f moved/g"},
		{"cat a2 > /dev/null; ls -la; [ -e b ] || true", ""},
		{"cd / && echo z > " + dir + "/z; echo o > $(mktemp -d)/outside", "z"},
		{"(setsid sh -c 'echo late > late') & wait", "late"},
		{"ln a2 hard; truncate -s 3 z; touch -d 2001-01-01 late", "hard late z"},
		{"for i in $(seq 200); do echo $i > \"n $i\"; done", ""},
	} {
		told, seen := watched(t, dir, c[0])
		if !seen {
			t.Skip("this kernel tells nobody")
		}
		if strings.Contains(c[0], "seq") {
			if len(told) != 200 || told[0] != "n 1" {
				t.Errorf("%d told: %q", len(told), told[:min(3, len(told))])
			}
			continue
		}
		if got := strings.Join(told, " "); got != c[1] {
			t.Errorf("%s: told %q, want %q", c[0], got, c[1])
		}
	}
}

// A command whose supervisor dies or stands still while it waits for its answer about a file does
// not wait for ever: it is ended with all that it started.
func TestNothingHangsWithoutWhoeverIsTold(t *testing.T) {
	for signal, shape := range map[string]string{
		"KILL": "setsid T & kill -9 $PPID; while :; do : > f; done; T ",
		"STOP": "setsid T & until [ -e go ]; do :; done; kill -STOP $PPID; while :; do echo x > f; done; T ",
	} {
		t.Run(signal, func(t *testing.T) {
			if signal == "STOP" && !effort.Is(effort.Short) {
				t.Skip("waits for the supervisor as long as a call would")
			}
			need(t, "setsid")
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			tag := newTag()
			c := shell(script(shape, tag))
			c.Tag, c.Dir = tag, dir
			s := proc.Supervisor{Watch: func(proc.Command) *proc.Watch { return &proc.Watch{Root: dir} }}
			p, err := s.Start(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			want := proc.Lost
			if signal == "STOP" {
				// Before Start has returned, the supervisor has not told of the command.
				if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				await(t, "a stopped supervisor", func() bool {
					st, ok := shim.ReadStat(parentOf(t, p.PID()))
					return ok && st.State == 'T'
				})
				p.End(proc.Aborted)
				want = proc.Aborted
			}
			if r := p.Wait(); r.Killed != want || r.Survivors != 0 {
				t.Errorf("result %+v", r)
			}
			awaitNone(t, tag)
		})
	}
}
