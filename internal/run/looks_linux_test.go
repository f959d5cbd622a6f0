package run_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/testkit/effort"
)

// looks runs one prompt under strace and counts what it opens or looks at by name, but for the
// folders above this test's own, of which there are more or fewer on each machine.
func (u *user) looks() (all int, each map[string]int) {
	u.t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		u.t.Skip("strace is not installed")
	}
	log := filepath.Join(u.t.TempDir(), "log")
	cmd := u.command("--print", "--permission-mode", "yolo", "--model", "openai/m", "hello")
	cmd.Args = append([]string{strace, "-f", "-qq", "-e", "trace=%file", "-o", log}, cmd.Args...)
	cmd.Path = strace
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "ptrace") && err != nil {
		u.t.Skipf("strace may not trace here: %s", out)
	}
	if err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		u.t.Fatal(err)
	}
	each = map[string]int{}
	for _, call := range regexp.MustCompile(`(?m)^\d+ +\w+\((?:[A-Z_0-9]+, )?"([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		if each[call[1]]++; !strings.HasPrefix(u.dir, call[1]+"/") {
			all++
		}
	}
	return all, each
}

// A run with nothing carried looks once for each place where something could be, and does not walk
// the way to its folders again and again: the looks are counted with the real program, so that a
// new room cannot bring them back unseen.
func TestAStartLooksForEachPlaceOnce(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "PATH=/usr/bin:/bin")
	u.serve(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")
	})
	u.run("--print", "--model", "openai/m", "hello").wants(0) // makes the store
	all, each := u.looks()
	t.Logf("%d looks", all)
	if all > maxLooks {
		t.Errorf("one prompt looked at %d names, at most %d are needed: %v", all, maxLooks, each)
	}
	for _, dir := range []string{".claude", ".codex", ".cursor", ".gemini", ".agents", ".opencode", ".adze", ".github"} {
		for _, below := range []string{u.dir, u.own} {
			if n := each[filepath.Join(below, dir)]; n > 1 {
				t.Errorf("%s of %s was looked for %d times", dir, below, n)
			}
		}
		if n := each[dir]; n > 2 { // by the project's own configuration, and by the consent to what it would run
			t.Errorf("%s was looked for %d times from the project's descriptor", dir, n)
		}
	}
	if n := each[u.dir]; n > 8 {
		t.Errorf("the workspace's own path was looked at %d times", n)
	}
	if n := each[filepath.Join(u.home, "config.json")]; n != 1 {
		t.Errorf("the configuration, which is not there, was looked for %d times", n)
	}
	for dir := filepath.Dir(u.dir); dir != "/"; dir = filepath.Dir(dir) {
		if n := each[dir]; n > 8 {
			t.Errorf("%s, on the way to the workspace, was looked at %d times", dir, n)
		}
	}
}

// TestAnInterfaceReadsTheConfigurationOnce: the first frame is drawn from what the run goes on
// with.
func TestAnInterfaceReadsTheConfigurationOnce(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	u := newUser(t)
	u.configure(`{"model": "openai/m"}`)
	u.env = append(u.env, "OPENAI_API_KEY=key", "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	p := u.openPane(80, 24)
	log := filepath.Join(t.TempDir(), "log")
	p.shell("clear; " + strace + " -f -qq -e trace=openat,execve -o " + quoted(log) + " " + quoted(u.command().Path) + "; echo ended with $?")
	p.sees("Ask, or say what to do")
	p.keys("C-c", "C-c")
	p.restored(0)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `config.json"`); n != 1 {
		t.Errorf("it was opened %d times:\n%s", n, regexp.MustCompile(`(?m)^.*config\.json".*$`).FindAllString(string(text), -1))
	}
}

// A turn looks at the files of its call, at the way to what adze keeps for itself, and no more
// often than the rules need.
func TestATurnLooksNoMoreThanItNeeds(t *testing.T) {
	effort.Needs(t, effort.Short, "it traces whole runs")
	for _, kind := range []struct {
		tool, arguments string // with the number of the turn
		most            int    // names: one more than when this was written
	}{
		{"read", `{"path":"a.txt","offset":%d,"limit":2}`, 31},
		{"grep", `{"pattern":"a line %d"}`, 50},
		{"edit", `{"path":"a.txt","old_string":"mark %[1]d.","new_string":"mark %[1]d.."}`, 91},
	} {
		t.Run(kind.tool, func(t *testing.T) { turnLooks(t, kind.tool, kind.arguments, kind.most) })
	}
}

func turnLooks(t *testing.T, tool, arguments string, most int) {
	u := newUser(t)
	u.env = append(u.env, "PATH=/usr/bin:/bin")
	var marks strings.Builder
	for i := range 100 {
		fmt.Fprintf(&marks, "a line\nmark %d.\n", i)
	}
	if err := os.WriteFile(filepath.Join(u.dir, "a.txt"), []byte(marks.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var turns atomic.Int64
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		delta := `{"content":"done"}`
		if n := int64(bytes.Count(body, []byte(`"role":"tool"`))); n < turns.Load() {
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}`, n, tool, fmt.Sprintf(arguments, n+1))
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: [DONE]\n\n", delta)
	})
	const few, many = 3, 23
	turns.Store(few)
	u.looks() // makes the store
	start, before := u.looks()
	turns.Store(many)
	all, each := u.looks()
	a := (all - start) / (many - few)
	t.Logf("%d looks a turn", a)
	for name := range each {
		each[name] -= before[name]
	}
	if a > most {
		t.Errorf("a turn looked at %d names, at most %d are needed; in %d turns: %v", a, most, many-few, each)
	}
}

// maxLooks bounds the names that one prompt looks at, with nothing carried. The race detector makes
// 200 of them, because it loads the C library.
const maxLooks = 200
