package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// groups makes files as those of control groups: name, and what it hands on; "-" is a group that is
// not this user's.
func groups(t *testing.T, all map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, hands := range all {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"cgroup.subtree_control": strings.TrimPrefix(hands, "-"), "cgroup.procs": ""}
		if strings.HasPrefix(hands, "-") {
			delete(files, "cgroup.procs")
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestTheNearestGroupThatHandsMemoryOnIsDivided(t *testing.T) {
	const own = "/user.slice/user@1.service/app.slice/term.scope"
	for name, c := range map[string]struct {
		all  map[string]string
		want string
	}{
		"of a user":           {map[string]string{"user.slice": "-memory pids", "user.slice/user@1.service/app.slice": "cpu memory pids", "user.slice/user@1.service/app.slice/term.scope": ""}, "user.slice/user@1.service/app.slice"},
		"of somebody else":    {map[string]string{"user.slice": "-memory", "user.slice/user@1.service/app.slice": "-memory"}, ""},
		"without memory":      {map[string]string{"user.slice/user@1.service/app.slice": "pids", "": "pids memory.low"}, ""},
		"the top, as root":    {map[string]string{"": "memory"}, "."},
		"its own, being free": {map[string]string{own: "memory"}, own},
		"nothing":             {nil, ""},
	} {
		root := groups(t, c.all)
		want := ""
		if c.want != "" {
			want = filepath.Join(root, c.want)
		}
		if got := delegated(root, own); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := delegated(t.TempDir(), "../../.."); got != "" {
		t.Errorf("%q", got)
	}
}

// TestAGroupThatCannotBoundIsNotUsed: a folder is made, and nothing that bounds is in it.
func TestAGroupThatCannotBoundIsNotUsed(t *testing.T) {
	root := groups(t, map[string]string{"": "memory"})
	var number atomic.Int64
	if g, err := newMemoryGroup(root, 1<<20, &number); err == nil {
		t.Errorf("%+v", g)
	}
	if entries, _ := filepath.Glob(filepath.Join(root, "adze-*")); len(entries) > 0 {
		t.Errorf("%q is left", entries)
	}
}

func TestAGroupTellsThatItsMemoryWasUsedUp(t *testing.T) {
	for text, want := range map[string]bool{"low 0\noom 3\noom_kill 2\n": true, "oom 0\noom_kill 0\n": false, "": false} {
		g := &memoryGroup{t.TempDir()}
		if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if g.exceeded() != want {
			t.Errorf("%q", text)
		}
	}
}
