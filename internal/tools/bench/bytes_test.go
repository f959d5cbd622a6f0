//go:build unix

package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// costs are whole tasks in the order of a usual day.
func costs() []task {
	log := "for i in $(seq 1 5000); do echo \"10:$((i / 60 % 60)):$((i % 60)) request $((i * i)) took $((i * i % 977)) ms\"; done > app.log; echo '11:24:01 ERROR connection refused by db-3' >> app.log; seq -f '11:24:%g retry' 2 90 >> app.log"
	bug := fixABug()
	return []task{
		bug,
		{name: "an edit", files: map[string]string{"main.go": "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n", "go.mod": "module m\n"}, plan: []call{
			{"glob", object(map[string]any{"pattern": "**/*.go"})}, read("main.go"),
			edit("main.go", "hello", "hello, world"), bash("go vet ./...", "Check"), bash("git diff", "Look at the change"), read("main.go"), bash("git status -s", "See what changed"),
		}},
		{name: "run tests", files: bug.files, plan: []call{
			bash("go test ./... 2>&1 | tail -20", "Run the tests"), read("median_test.go"), read("median.go"),
			edit("median.go", "\treturn values[len(values)/2]\n", "\tif n := len(values); len(values)%2 == 0 {\n\t\treturn (values[n/2-1] + values[n/2]) / 2\n\t}\n\treturn values[len(values)/2]\n"),
			bash("go test ./...", "Run the tests"), bash("git diff --stat", "Look at the change"),
		}},
		{name: "progress output", files: map[string]string{"a": "a\n"}, plan: []call{
			bash(`for i in $(seq 0 100); do printf '\rDownloading %3d%% [%-50s]' $i "$(printf '#%.0s' $(seq 0 $((i / 2))))"; done; echo`, "Download"),
			bash(`for i in $(seq 1 900); do echo "Step $i/900: compiling unit$i.o"; done; echo done`, "Build"),
			bash("yes waiting | head -20000", "Wait"), bash("printf %0300000d 7", "Print a long line"),
		}},
		{name: "read a log", files: map[string]string{"a": "a\n"}, plan: []call{
			bash(log, "Make the log"), read("app.log"), {"grep", object(map[string]any{"pattern": "ERROR", "path": "app.log"})},
			{"read", object(map[string]any{"path": "app.log", "offset": 4995, "limit": 20})},
		}},
		renameEverywhere(),
	}
}

// TestTasksCostFewBytes runs whole tasks, whose decisions are written down, and adds up the
// requests: what a user pays for, whatever the model.
//
//	ADZE_TESTS=short go test -v -run TasksCostFewBytes ./internal/tools/bench
func TestTasksCostFewBytes(t *testing.T) {
	counts := newRatchet(t)
	for _, of := range costs() {
		var plan []string
		for _, c := range of.plan {
			plan = append(plan, object(map[string]any{"name": c.tool, "arguments": c.args}))
		}
		server := newInstant(t, plan...)
		r := ground(t, server)
		lay(t, r, of)
		cmd := r.adze(of.name)
		cmd.Env = append(cmd.Env, "PATH="+r.home+"/bin:"+pathOf(cmd.Env), "HOME="+r.home, "GOCACHE="+goCache(t),
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a")
		r.measure(cmd)
		sent, requests := server.allBytes.Load(), server.requests.Load()
		if want := int64(len(plan)) + 1; requests != want {
			t.Errorf("%s: %d requests, want %d", of.name, requests, want)
		}
		counts.holds(of.name+": bytes of all requests", sent)
	}
}

// goCache is where the go command keeps what it has built: without it each task would build the
// standard library.
func goCache(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if set := os.Getenv("GOCACHE"); set != "" {
		return set
	}
	if err != nil {
		return t.TempDir()
	}
	return filepath.Join(dir, "go-build")
}

func pathOf(env []string) string {
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			return p
		}
	}
	return "/usr/bin:/bin"
}
