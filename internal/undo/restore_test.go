//go:build linux

package undo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
)

// undo undoes windows and returns the window of the undo itself.
func (p *site) undo(git bool, windows ...Window) Result {
	p.t.Helper()
	plan, err := p.Plan(context.Background(), git, nil, nil, windows...)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.Apply(context.Background(), plan)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *site) clean(r Result) {
	p.t.Helper()
	for _, refused := range r.Refused {
		p.t.Errorf("refused %v", refused)
	}
	if left, _ := filepath.Glob(filepath.Join(p.state, "plan-*")); len(left) > 0 {
		p.t.Errorf("a plan is left: %v", left)
	}
}

// thereAndBack runs a script, undoes it, and undoes the undo.
func (p *site) thereAndBack(script string, git bool) {
	p.t.Helper()
	before, was := p.mark(), p.shape(git)
	p.sh(script)
	after, is := p.mark(), p.shape(git)
	undone := p.undo(git, Window{before, after})
	p.clean(undone)
	p.same(script+": undo", p.shape(git), was)
	p.reopen() // the redo is another process's
	redone := p.undo(git, undone.Window)
	p.clean(redone)
	p.same(script+": redo", p.shape(git), is)
	p.last = redone.Window
}

func TestEveryChangeIsUndoneAndRedone(t *testing.T) {
	scripts := []string{"rm -rf src empty bin link dangling folder-link run.sh .env nothing", "rm -rf ./* .env", "mv src bin/", "mv src/a.go src/crlf.txt",
		"rm -r src; printf file > src", "rm run.sh; mkdir -p run.sh/a/b; printf x > run.sh/a/b/c", "chmod -R go-rwx src bin empty run.sh", "rm link; ln -s elsewhere link",
		"rm -r src/deep; ln -s ../bin src/deep", "sed -i 's/$/x/' src/a.go src/crlf.txt", "printf 1 > bin/raw; truncate -s 10 bin/zero", "ln src/a.go src/c.go",
		"printf in-place > src/y", "rm src/y; cp src/deep/er/x src/y", "mkdir -p n/e/w; chmod 500 n/e", "chmod 500 src; rm -r empty", "mv .env env; cp env .env",
		"rm 'a b\nc'; : > -rf", "mv src/deep/er src/er; rmdir src/deep", "ln -f src/a.go src/y", "chmod 500 src/deep/er"}
	for _, c := range changesOf {
		if !strings.Contains(c.script, "mkfifo") {
			scripts = append(scripts, c.script)
		}
	}
	for _, script := range scripts {
		p := newSite(t)
		p.fill()
		p.thereAndBack(script, false)
		p.sh("chmod -R u+rwx .")
	}
}

// TestWhatGitDoesIsUndone lets the real git take the tree away.
func TestWhatGitDoesIsUndone(t *testing.T) {
	needGit(t)
	for _, git := range []bool{false, true} {
		for i, script := range []string{"git reset -q --hard HEAD~1", "git clean -fdxq", "git clean -ffdxq", "git checkout -q other", "git checkout -q -- .", "git stash -qu",
			"git rm -rqf src", "git mv src lib", "git commit -qam more", "git merge -q other -m m || true"} {
			if !effort.Is(effort.Short) && git != (i%2 == 0) {
				continue // half of them each way
			}
			p := newSite(t)
			p.fill()
			p.sh(`git init -q -b main; printf '*.log\nbuild2/\n' > .gitignore; git add -A; git commit -qm one
git checkout -qb other; printf other > src/o.go; git add -A; git commit -qm other; git checkout -q main
printf 'package a2\n' > src/a.go; git commit -qam two
printf dirty >> src/crlf.txt; printf new > untracked; printf ignored > x.log; mkdir build2; printf b > build2/b
git init -q nested; printf n > nested/dirty; mkdir void`)
			p.thereAndBack(script, git && !strings.Contains(script, "-ff"))
		}
	}
}

func TestWhatAPersonChangedIsKept(t *testing.T) {
	p := newSite(t)
	p.fill()
	a := p.mark()
	p.sh("printf 1 > src/a.go; printf 1 > src/crlf.txt; rm run.sh; mkdir made; printf m > made/m; printf t > twice")
	b := p.mark()
	p.sh("printf person > twice; printf other > theirs")
	c := p.mark()
	p.sh("printf t2 > twice; printf 2 > src/crlf.txt")
	d := p.mark()
	p.sh("printf mine > src/a.go; printf mine > run.sh; printf mine > made/too; rm link")
	r := p.undo(false, Window{a, b}, Window{c, d})
	var refused []string
	for _, x := range r.Refused {
		refused = append(refused, x.Path)
	}
	if want := "made run.sh src/a.go twice"; strings.Join(refused, " ") != want {
		t.Errorf("refused %q, want %q", r.Refused, want)
	}
	for path, want := range map[string]string{"src/a.go": "mine", "run.sh": "mine", "made/too": "mine", "theirs": "other", "twice": "t2", "src/crlf.txt": "one\r\ntwo\r\n"} {
		if got, err := os.ReadFile(filepath.Join(p.root, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"link", "made/m"} {
		if _, err := os.Lstat(filepath.Join(p.root, path)); err == nil {
			t.Errorf("%s is there again", path)
		}
	}
}

// TestAChangeBetweenPlanAndApplyIsKept changes a path at every moment of an undo, also between the
// look at it and the swap: what the user wrote is there in the end.
func TestAChangeBetweenPlanAndApplyIsKept(t *testing.T) {
	for n := 0; ; n++ {
		p := newSite(t)
		p.sh("printf one > a; printf two > b; ln -s x l")
		before := p.mark()
		p.sh("printf ONE > a; rm b; printf new > c; ln -sfn y l")
		after := p.mark()
		plan, err := p.Plan(context.Background(), false, nil, nil, Window{before, after})
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		p.crash = func() {
			if seen == n {
				p.sh("for f in a b c l; do rm -f $f; printf mine-$f > $f; done")
			}
			seen++
		}
		r, err := p.Apply(context.Background(), plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"a", "b", "c", "l"} {
			if got, err := os.ReadFile(filepath.Join(p.root, f)); n < seen && (err != nil || string(got) != "mine-"+f) {
				t.Errorf("moment %d: %s is %q, %v", n, f, got, err)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(p.root, tempPrefix+"*")); len(left) > 0 {
			t.Errorf("moment %d: left %v, %v", n, left, r.Refused)
		}
		if n >= seen {
			return
		}
	}
}

const wild = "printf z > bad*name; rm -rf src/deep; mv src/a.go b.go; printf zz > src/crlf.txt; rm link; mkdir link; printf x > link/x; rm -r empty; printf e > empty; chmod 711 bin run.sh; ln run.sh again; printf n > new"

// TestAnUndoThatDiesAtAnyMomentIsFinished lets an undo end at each of its moments, and the recovery
// once more.
func TestAnUndoThatDiesAtAnyMomentIsFinished(t *testing.T) {
	stride := effort.Rounds(21, 5, 1)
	for n := 0; ; n += stride {
		p := newSite(t)
		p.fill()
		before, was := p.mark(), p.shape(false)
		p.sh(wild)
		is := p.shape(false)
		plan, err := p.Plan(context.Background(), false, nil, nil, Window{before, p.mark()})
		if err != nil {
			t.Fatal(err)
		}
		died := p.dies(n, func() error { _, err := p.Apply(context.Background(), plan); return err })
		p.reopen()
		if p.stage(plan.ID) == NotBegun {
			p.same(fmt.Sprint("nothing was begun at ", n), p.shape(false), is)
			continue
		}
		p.dies(n/2, func() error { _, err := p.Recover(context.Background()); return err })
		p.reopen()
		results, err := p.Recover(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			p.clean(r)
		}
		if _, r, err := p.Journal(plan.ID); err != nil || p.stage(plan.ID) != Applied || len(r.Done) != len(plan.Steps) {
			t.Errorf("died at %d: the journal says %v, %v; want %d paths done", n, r, err, len(plan.Steps))
		}
		if err := p.Discard(plan.ID); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(p.state, "*-*")); len(left) > 0 {
			t.Errorf("died at %d: left in the store: %v", n, left)
		}
		p.same(fmt.Sprint("died at ", n), p.shape(false), was)
		if !died {
			return
		}
	}
}

// stage is how far an undo came.
func (p *site) stage(id string) Stage {
	p.t.Helper()
	stage, _, err := p.Journal(id)
	if err != nil {
		p.t.Fatal(err)
	}
	return stage
}

// dies runs f until its n-th moment.
func (p *site) dies(n int, f func() error) (died bool) {
	p.t.Helper()
	defer func() {
		p.crash = nil
		if recover() != nil {
			died = true
		}
	}()
	p.crash = func() {
		if n--; n < 0 {
			panic("dies")
		}
	}
	if err := f(); err != nil {
		p.t.Error(err)
	}
	return false
}

// TestMain is the process that is killed when the variable is set: it takes a state, or undoes for
// ever.
func TestMain(m *testing.M) {
	if root := os.Getenv("ADZE_UNDO_KILLED"); root != "" {
		killed(root)
	}
	os.Exit(m.Run())
}

func killed(root string) {
	w, err := Open(Options{Root: root, State: filepath.Join(filepath.Dir(root), "state"), Limits: Limits{KeepFree: 1}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	moments, _ := strconv.Atoi(os.Getenv("ADZE_UNDO_MOMENT"))
	var passed atomic.Int64 // several workers take the first state
	w.crash = func() {
		if passed.Add(1) > int64(moments) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if names := strings.Fields(os.Getenv("ADZE_UNDO_NAMED")); len(names) > 0 {
		var named []Named
		for _, name := range names {
			m, _ := ParseMark(name)
			named = append(named, Named{m, time.Now()})
		}
		_, err := w.Prune(context.Background(), Retention{}, named...)
		fmt.Println(err)
		os.Exit(0)
	}
	after, err := w.Take(context.Background())
	before, err2 := ParseMark(os.Getenv("ADZE_UNDO_BEFORE"))
	if err == nil && err2 == nil {
		plan, err := w.Plan(context.Background(), false, nil, nil, Window{before, after})
		if err == nil {
			_, err = w.Apply(context.Background(), plan)
		}
		fmt.Println(err)
	}
	os.Exit(0)
}

// TestAKilledProcessLosesNothing kills a process of its own with signal 9 at random moments of
// taking a state and of an undo. ADZE_TESTS says how often.
func TestAKilledProcessLosesNothing(t *testing.T) {
	for range effort.Rounds(3, 6, 200) {
		p := newSite(t)
		p.fill()
		for i := range 30 {
			p.write(fmt.Sprint("many", i), bytes.Repeat([]byte{byte(i)}, 3000))
		}
		before, was := p.mark(), p.shape(false)
		p.sh(wild + "; for i in 1 2 3 4 5 6 7 8 9; do printf $i > many$i; done")
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		moment := rand.IntN(150)
		cmd.Env = append(os.Environ(), "ADZE_UNDO_KILLED="+p.root, "ADZE_UNDO_BEFORE="+before.String(), "ADZE_UNDO_MOMENT="+strconv.Itoa(moment))
		out, _ := cmd.CombinedOutput()
		p.open()
		results, err := p.Recover(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			p.clean(r)
		}
		if len(results) == 0 { // it died before the plan was written, or was through
			p.undo(false, Window{before, p.mark()})
		}
		p.same(fmt.Sprintf("killed at %d (%s)", moment, out), p.shape(false), was)
	}
}

func (p *site) write(name string, content []byte) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.root, name), content, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// TestRandomChangesAreUndone makes trees and changes by chance. ADZE_TESTS says how often,
// and ADZE_SEED with what.
func TestRandomChangesAreUndone(t *testing.T) {
	seed := effort.Seed(t, 1)
	for i := range effort.Rounds(3, 6, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		p := newSite(t)
		p.sh(chance(r, 40))
		var windows []Window
		was := p.shape(false)
		for range 1 + r.IntN(3) {
			before := p.mark()
			p.sh(chance(r, 15))
			windows = append(windows, Window{before, p.mark()})
		}
		is := p.shape(false)
		undone := p.undo(false, windows...)
		p.clean(undone)
		p.same(fmt.Sprintf("seed %d, round %d: undo", seed, i), p.shape(false), was)
		p.clean(p.undo(false, undone.Window))
		p.same(fmt.Sprintf("seed %d, round %d: redo", seed, i), p.shape(false), is)
		if t.Failed() {
			return
		}
	}
}

// chance is a script of n operations, those that cannot be done are not.
func chance(r *rand.Rand, n int) string {
	var b strings.Builder
	name := func() string {
		parts := make([]string, 1+r.IntN(3))
		for i := range parts {
			parts[i] = string(rune('a' + r.IntN(4)))
		}
		return strings.Join(parts, "/")
	}
	for range n {
		x, y := name(), name()
		ops := []string{"mkdir -p " + x, "echo " + strconv.Itoa(r.IntN(5)) + " > " + x, "rm -rf " + x, "mv -T " + x + " " + y, "ln " + x + " " + y,
			"ln -s " + y + " " + x, "cp -rT " + x + " " + y, "chmod " + strconv.FormatInt(int64(0o700+r.IntN(64)), 8) + " " + x, "printf a >> " + x,
			"mkdir -p $(dirname " + x + ") && echo q > " + x, "rmdir " + x}
		b.WriteString("( " + ops[r.IntN(len(ops))] + " ) 2>/dev/null || true\n")
	}
	return b.String()
}
