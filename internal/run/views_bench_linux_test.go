package run_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session"
	"adze/tool"
)

// BenchmarkViews is one call of a command with undo on, from the state before it to the list of
// what it changed: in a private view of the workspace, beside the same call on the live tree in the
// same sandbox, which is what commands do that get no view. Bars: 1.1 × live, and 3 ms more for
// true. Both run in turn on workspaces of their own, and what counts are the medians of all pairs.
//
//	go test -run '^$' -bench Views -benchtime 20x ./internal/run
func BenchmarkViews(b *testing.B) {
	for _, w := range []views{
		{name: "true", make: "git init -q -b main . && echo a >a", run: "true"},
		{name: "git status", make: someRepository, run: "git status --short >/dev/null"},
		{name: "git commit", make: someRepository, run: "echo x >>d1/f1 && git commit -qam more"},
		{name: "go build", needs: "go", make: someModule, run: "go build -o m .", warm: true, before: "rm -f m"},
		{name: "go test", needs: "go", make: someModule, run: "go test -count=1 ./... >/dev/null", warm: true},
		{name: "npm install of 20,000 files", needs: "npm", make: somePackage, before: "rm -rf node_modules package-lock.json",
			run: "npm install --offline --no-audit --no-fund --loglevel=error ./big.tgz >/dev/null", most: 3},
		{name: "1,800 files changed", make: someRepository, run: `for f in d*/f*; do echo more >>"$f"; done`},
		{name: "2,000 new files", make: "git init -q -b main .", before: "rm -rf new", run: "mkdir new && for i in $(seq 2000); do echo $i >new/$i; done"},
		{name: "1 GB changed in place", make: "git init -q -b main . && head -c 1G /dev/zero >big", run: "printf x | dd of=big bs=1 seek=4096 conv=notrunc status=none", most: 5},
		{name: "true in 200,000 files", make: manyFiles, run: "true"},
		{name: "1 of 200,000 files", make: manyFiles, run: "echo more >>d7/s7/f7"},
	} {
		b.Run(w.name, w.measure)
	}
}

const (
	someRepository = `git init -q -b main . && for i in $(seq 18); do mkdir d$i && for j in $(seq 100); do echo "$i $j" >d$i/f$j; done; done && git add -A && git commit -qm one`
	someModule     = `git init -q -b main . && printf 'module m\ngo 1.21\n' >go.mod && printf 'package main\nimport "net/http"\nfunc main() { println(http.StatusText(n())) }\nfunc n() int { return 200 }\n' >m.go &&
		printf 'package main\nimport "testing"\nfunc TestN(t *testing.T) { if n() != 200 { t.Fatal(n()) } }\n' >m_test.go`
	somePackage = `git init -q -b main . && echo node_modules >.gitignore && echo '{"name":"a","version":"1.0.0"}' >package.json && mkdir package && echo '{"name":"big","version":"1.0.0"}' >package/package.json &&
		for i in $(seq 200); do mkdir package/d$i && (cd package/d$i && for j in $(seq 100); do echo "exports.n = $j" >$j.js; done); done && tar czf big.tgz package && rm -r package`
	manyFiles = `git init -q -b main . && for i in $(seq 100); do for j in $(seq 20); do mkdir -p d$i/s$j && (cd d$i/s$j && for k in $(seq 100); do echo "$i $j" >f$k; done); done; done`
)

// views is one thing that commands do.
type views struct {
	name, needs string
	make        string // makes the workspace
	before      string // each time, outside
	run         string
	warm        bool // the first time is not counted
	most        int  // pairs; if 0, as many as the benchmark wants
}

func (w views) measure(b *testing.B) {
	if _, err := exec.LookPath(w.needs); w.needs != "" && err != nil {
		b.Skip(w.needs + " is not installed")
	}
	sides := map[bool]*side{false: newSide(b, w, false), true: newSide(b, w, true)}
	if w.warm {
		for _, s := range sides {
			s.call(w)
		}
	}
	var live, view, ratios []float64
	for n := 0; b.Loop(); n++ {
		if w.most > 0 && n >= w.most {
			continue
		}
		ms := map[bool]float64{}
		for _, apart := range []bool{n%2 == 0, n%2 != 0} {
			ms[apart] = sides[apart].call(w)
		}
		live, view, ratios = append(live, ms[false]), append(view, ms[true]), append(ratios, ms[true]/ms[false])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(live), "live-ms")
	b.ReportMetric(median(view), "view-ms")
	b.ReportMetric(median(ratios), "view/live")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// side is a workspace with what keeps its states, and a sandbox.
type side struct {
	b      *testing.B
	apart  bool
	work   string
	env    []string
	keeper *recorder.Keeper
	cage   proc.Supervisor
	calls  int
}

func newSide(b *testing.B, w views, apart bool) *side {
	top, err := os.MkdirTemp("/var/lib", "views-*") // not in /tmp, which is private to commands
	if err != nil {
		b.Skip(err)
	}
	s := &side{b: b, apart: apart, work: filepath.Join(top, "home", "work")}
	state := filepath.Join(top, "state")
	s.must(os.MkdirAll(s.work, 0o755))
	s.must(os.MkdirAll(state, 0o700))
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(s.work), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	s.outside(w.make)
	writers := &recorder.ChangeLog{}
	box := sandbox.New(sandbox.Options{Workspace: s.work, Home: filepath.Dir(s.work), State: state, OwnPaths: []string{state}, Techniques: []sandbox.Technique{sandbox.Namespaces}})
	s.keeper = recorder.NewKeeper(recorder.Options{ChangeLog: writers, MaxWait: time.Hour, Separate: func(tool.Record) bool { return true },
		Options: undo.Options{Root: s.work, State: recorder.Store(filepath.Join(top, "undo"), s.work), Skip: func(path string) bool { return box.IsPlaceholder(filepath.Join(s.work, path)) }}})
	box.SetChangePolicy(nil, func(tag string, paths []string, apply func() []string) error {
		return s.keeper.Applying(proc.TagOf(tag), paths, apply)
	})
	s.cage = proc.Supervisor{Cage: box, Live: func(ctx context.Context, c proc.Command) error { return s.keeper.Live(ctx, proc.TagOf(c.Tag)) }}
	b.Cleanup(func() {
		_ = s.keeper.Close()
		box.Close()
		_ = os.RemoveAll(top)
	})
	if _, err := s.keeper.Workspace(b.Context()); err != nil { // the first look at all files is taken beside the model
		b.Fatal(err)
	}
	return s
}

func (s *side) must(err error) {
	s.b.Helper()
	if err != nil {
		s.b.Fatal(err)
	}
}

// outside runs a script as the user does.
func (s *side) outside(script string) {
	s.b.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir, cmd.Env = s.work, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.b.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// call is one call as a session makes it. It returns what it took, in milliseconds.
func (s *side) call(w views) float64 {
	s.b.Helper()
	s.outside(w.before)
	s.calls++
	record := tool.Record{Tool: "bash", Message: "m", Call: tool.CallID(fmt.Sprint("call-", s.calls)), Needs: []tool.Need{{Permission: tool.Execute, Target: w.run}}}
	ctx := context.Background()
	begun := time.Now()
	before, err := s.keeper.Before(ctx, record)
	if err != nil || before == nil {
		s.b.Fatal("no state: ", err)
	}
	r, err := s.cage.Run(ctx, proc.Command{Argv: []string{"bash", "--noprofile", "--norc", "-c", w.run}, Dir: s.work, Env: s.env, Transaction: s.apart, Tag: string(record.Call), Timeout: 10 * time.Minute})
	if err != nil || r.Err() != nil {
		s.b.Fatal(err, r.Err(), r.Output.Head)
	}
	window, err := s.keeper.After(ctx, record, *before, func(session.Window) {})
	took := float64(time.Since(begun).Microseconds()) / 1000
	switch {
	case err != nil:
		s.b.Fatal(err)
	case len(r.Messages) > 0:
		s.b.Fatal("left out: ", strings.Join(r.Messages, "; "))
	case len(window.Unsure) > 0 || window.Author != "":
		s.b.Fatalf("of %v nobody knows who changed it", window.Unsure)
	}
	return took
}
