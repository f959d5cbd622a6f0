package workspace_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/workspace"
	"adze/internal/testkit/failfs"
)

// scenario is one update whose every operation is made to fail in turn.
type scenario struct {
	name   string
	file   string
	old    string // "": the file does not exist
	change func(*workspace.Current) ([]workspace.Splice, error)
	want   string
}

func scenarios() []scenario {
	long := strings.Repeat("line\n", 1000)
	return []scenario{
		{"create", "f", "", whole("new"), "new"},
		{"create with folders", "a/b/f", "", whole("new"), "new"},
		{"replace", "f", "old", whole("new"), "new"},
		{"splice", "d/f", long, func(*workspace.Current) ([]workspace.Splice, error) {
			return []workspace.Splice{{Offset: 10, Len: 5, Data: []byte("LINE\n")}, {Offset: 3000, Len: 0, Data: []byte("more\n")}}, nil
		}, long[:10] + "LINE\n" + long[15:3000] + "more\n" + long[3000:]},
	}
}

// Every operation fails in turn, in every way, until a run has no more operations to fail: the file
// is always the old or the new one, an error is reported unless it is the new one, and nothing else
// is left.
func TestUpdateIsOldOrNewWhateverFails(t *testing.T) {
	for _, s := range scenarios() {
		for name, kind := range map[string]failfs.Kind{"error": failfs.Error, "short": failfs.Short, "persistent": failfs.Persistent} {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				n := 1
				for ; ; n++ {
					p := open(t)
					before, ran := s.run(p, n, kind)
					if !ran {
						break
					}
					s.check(p, n, before)
				}
				if n < 8 {
					t.Errorf("only %d operations were numbered", n-1)
				}
			})
		}
	}
}

func (s scenario) run(p place, n int, kind failfs.Kind) (before []string, failed bool) {
	if s.old != "" {
		p.put(s.file, s.old)
	}
	before = p.tree()
	path := p.resolve(s.file)
	p.fs.Arm(n, kind)
	_, err := p.root.Update(context.Background(), path, s.change)
	failed = p.fs.Count() >= n
	log := p.fs.Log()
	p.fs.Arm(0, failfs.Error)
	got, readErr := os.ReadFile(p.dir + "/" + s.file)
	if err == nil && string(got) != s.want {
		p.Errorf("operation %d: success reported, content %.40q (%v); %v", n, got, readErr, log)
	}
	if err != nil && kind != failfs.Crash && (string(got) != s.old || (s.old == "") != os.IsNotExist(readErr)) {
		p.Errorf("operation %d: %v reported, content %.40q (%v); %v", n, err, got, readErr, log)
	}
	if string(got) != s.old && string(got) != s.want {
		p.Errorf("operation %d: neither old nor new: %.40q", n, got)
	}
	return before, failed
}

// check wants the tree to be as before or, after success, with the file and its folders.
func (s scenario) check(p place, n int, before []string) {
	after := p.tree()
	if _, err := os.Stat(p.dir + "/" + s.file); err == nil {
		for _, name := range after {
			if strings.HasPrefix(name, ".adze-") || strings.Contains(name, "/.adze-") {
				p.Errorf("operation %d left %s", n, name)
			}
		}
		return
	}
	if !slices.Equal(before, after) {
		p.Errorf("operation %d: tree %q became %q", n, before, after)
	}
}

// After a crash at any operation the file is old or new, and the next write removes what the dead
// writer left.
func TestCrashLeavesOldOrNewAndTheNextWriteCleansUp(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			for n := 1; ; n++ {
				p := open(t)
				if _, crashed := s.run(p, n, failfs.Crash); !crashed {
					break
				}
				if _, err := p.write(s.file, "after"); err != nil {
					t.Errorf("operation %d: the next write failed: %v", n, err)
				}
				s.check(p, n, nil)
			}
		})
	}
}
