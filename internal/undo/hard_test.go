//go:build linux

package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"adze/internal/testkit/effort"
)

// TestWhatHappensToSubmodulesIsUndone lets the real git go about submodules.
func TestWhatHappensToSubmodulesIsUndone(t *testing.T) {
	needGit(t)
	for i, script := range []string{"rm -rf sub", "git submodule --quiet deinit -f sub", "git -C sub reset -q --hard HEAD~1", "git -C sub checkout -q -b other; printf o > sub/o; git -C sub add .; git -C sub commit -qm o",
		"git submodule --quiet foreach 'git clean -fdxq; git checkout -q .'", "git rm -qrf sub", "mv sub moved", "git worktree add -q wt; printf w > wt/w"} {
		if !effort.Is(effort.Short) && i%2 == 1 && i != 7 {
			continue // half of them in CI
		}
		p := newSite(t)
		p.sh(`git init -q -b main ../lib; cd ../lib; printf 1 > l; git add .; git commit -qm 1; printf 2 > l; git commit -qam 2; cd ../work
git init -q -b main; git -c protocol.file.allow=always submodule --quiet add ../lib sub; printf m > m; git add .; git commit -qm main
printf dirty > sub/l; printf new > sub/untracked; mkdir sub/void`)
		p.thereAndBack(script, i != 7) // what a worktree brings along in ".git" is its objects too
	}
}

// TestWhatSyncsAndFormatsDoIsUndone runs what people run over whole trees.
func TestWhatSyncsAndFormatsDoIsUndone(t *testing.T) {
	for _, script := range []string{
		"find . -name '*.txt' -exec sed -i 's/\\r$//' {} +", "find . -type f ! -path './.git/*' -print0 | xargs -0 chmod 600", "tar cf ../t.tar . && rm -rf ./* && tar xf ../t.tar --no-same-permissions",
		"cp -a src ../s && rm -r src && cp -r ../s src", "ln -f src/a.go bin/raw; : > bin/raw", "cp --remove-destination src/a.go src/y", "for f in src/*; do mv \"$f\" \"$f.bak\"; done; mv src/y.bak src/y",
		"dd if=/dev/zero of=bin/zero bs=1000 count=3 conv=notrunc status=none", "mkdir -p a/b/c/d/e/f; printf x > a/b/c/d/e/f/g; mv a/b/c src/c", "mv src/deep/er/x src/z; mv src/y src/deep/er/x",
		"mkdir t; mv src/* t/; rmdir src; mv t src", "find . -mindepth 1 -delete", "rm -rf ./* .[a-z]*; mkdir src; printf 'package a\\n' > src/a.go", "chmod 400 src/a.go run.sh; chmod 500 bin", "truncate -s 0 src/*.*; rm -f link; mkfifo fifo; rm fifo",
	} {
		p := newSite(t)
		p.fill()
		p.thereAndBack(script, false)
		p.sh("chmod -R u+rwx .")
	}
}

// TestAWholeTreeComesBack takes a tree of many files away and back. ADZE_TESTS says of how
// many.
func TestAWholeTreeComesBack(t *testing.T) {
	needGit(t)
	p := newSite(t)
	p.many(effort.Rounds(600, 600, 100_000))
	p.sh("git init -q .; git add d0; git commit -qm some; printf dirty > d0/s0/f1")
	for _, script := range []string{"rm -rf d*", "git clean -fdxq; git reset -q --hard", "mv d0 e0; find e0 -name 'f*7' -delete", "find . -name 'f*3' -exec chmod 755 {} +"} {
		p.thereAndBack(script, false)
		p.undo(false, p.last)
	}
}

// TestAKilledFirstStateIsTakenAgain kills a process with signal 9 at random moments of its first
// state, which several workers take, and once more where the next one goes on. ADZE_TESTS says
// how often.
func TestAKilledFirstStateIsTakenAgain(t *testing.T) {
	for range effort.Rounds(2, 3, 200) {
		p := newSite(t)
		p.fill()
		p.many(300)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ADZE_UNDO_KILLED="+p.root, "ADZE_UNDO_MOMENT="+strconv.Itoa(rand.IntN(350)))
			_ = cmd.Run()
		}
		p.open()
		got := p.mark()
		want, err := p.walked().Take(context.Background())
		if err != nil || got != want || !p.whole(got) {
			t.Fatalf("another state, or not whole: %v", err)
		}
		p.reopen()
		p.sh("rm -rf d0 src")
		p.clean(p.undo(false, Window{got, p.mark()}))
		if p.mark() != got {
			t.Error("the undo gave another state")
		}
	}
}

// related reports whether one of the paths is a path, above it or below it.
func related(paths map[string]bool, path string) bool {
	for q := range paths {
		if q == path || strings.HasPrefix(q, path+"/") || strings.HasPrefix(path, q+"/") {
			return true
		}
	}
	return false
}

// touched adds the paths that differ between two shapes.
func touched(all map[string]bool, a, b map[string]string) {
	for path := range a {
		if a[path] != b[path] {
			all[path] = true
		}
	}
	for path := range b {
		if a[path] != b[path] {
			all[path] = true
		}
	}
}

// TestAPersonsChangesInBetweenAreKept lets commands and a user change a tree in turn, by chance,
// and undoes what the commands did: what the user changed last stays, what they never touched is as
// it was, and whatever is neither is refused and named. ADZE_TESTS says how often,
// ADZE_SEED with what.
func TestAPersonsChangesInBetweenAreKept(t *testing.T) {
	seed := effort.Seed(t, 1)
	for i := range effort.Rounds(2, 5, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+5000))
		p := newSite(t)
		p.sh(chance(r, 40))
		was := p.shape(false)
		theirs, since := map[string]bool{}, map[string]bool{}
		var windows []Window
		for range 1 + r.IntN(3) {
			before := p.mark()
			p.sh(chance(r, 12))
			windows = append(windows, Window{before, p.mark()})
			command := p.shape(false)
			p.sh(chance(r, r.IntN(5)))
			clear(since)
			touched(since, command, p.shape(false))
			touched(theirs, command, p.shape(false))
		}
		present, exact := p.shape(false), p.shape(false)
		undone := p.undo(false, windows...)
		is := p.shape(false)
		refused := map[string]bool{}
		for _, x := range undone.Refused {
			refused[x.Path] = true
			if !related(theirs, x.Path) && !p.sharesFile(exact, theirs, x.Path) {
				t.Errorf("seed %d, round %d: %v, and nobody touched it", seed, i, x)
			}
		}
		paths := map[string]bool{}
		touched(paths, present, is)
		touched(paths, was, is)
		for path := range paths {
			switch {
			case since[path] && is[path] != present[path]:
				t.Errorf("seed %d, round %d: %s of the person was %q and is %q", seed, i, path, present[path], is[path])
			case !theirs[path] && !refused[path] && is[path] != was[path]:
				t.Errorf("seed %d, round %d: %s is %q, was %q, and is not refused", seed, i, path, is[path], was[path])
			}
		}
		p.undo(false, undone.Window)
		p.same(fmt.Sprintf("seed %d, round %d: redo", seed, i), p.shape(false), present)
		if t.Failed() {
			return
		}
	}
}

// sharesFile reports whether a path is a further name of a file that was touched by another.
func (p *site) sharesFile(exact map[string]string, theirs map[string]bool, path string) bool {
	_, names, _ := strings.Cut(exact[path], " = ")
	for name := range strings.FieldsSeq(names) {
		if theirs[name] {
			return true
		}
	}
	return false
}

// TestOnAFullDiskNothingIsLost lets a disk of its own be full: a state says what it lacks, an undo
// that has no room leaves each path as it is or as it was, and goes on when there is room.
func TestOnAFullDiskNothingIsLost(t *testing.T) {
	p := ownDisk(t, 4_000_000)
	if p == nil {
		return
	}
	for _, room := range []int64{0, 12_000, 30_000, 60_000, 120_000} {
		p.undoOnAFullDisk(room)
	}
}

// undoOnAFullDisk undoes with so many bytes left.
func (p *site) undoOnAFullDisk(room int64) {
	t := p.t
	t.Helper()
	for i := range 12 {
		p.write(fmt.Sprint("f", i), noise(20_000))
	}
	first, was := p.mark(), p.shape(false)
	p.sh("for i in 1 3 5 7 9 11; do printf $i > f$i; done; rm f2 f4 f6")
	second, is := p.mark(), p.shape(false)
	full := filepath.Join(filepath.Dir(p.root), "full")
	fillUp(full, room)
	plan, err := p.Plan(context.Background(), false, nil, nil, Window{first, second})
	if err != nil {
		t.Fatal(err) // nothing new is to be kept
	}
	r, err := p.Apply(context.Background(), plan)
	if err == nil && len(r.Refused) == 0 {
		p.same("it says that all is done", p.shape(false), was)
	}
	for path, now := range p.shape(false) {
		if now != was[path] && now != is[path] {
			t.Errorf("%d bytes left: %s is neither as it was nor as it is: %s", room, path, now)
		}
	}
	p.write("new", nil)
	if m, err := p.Take(context.Background()); err == nil && room == 0 || err != nil && !errors.Is(err, ErrSpace) {
		t.Errorf("a state that has no room: %v, %v", m, err)
	}
	for _, m := range []Mark{first, second} {
		if !p.whole(m) {
			t.Error("a state from before is not whole")
		}
	}
	_ = p.Close() // the table has no room
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	p.open()
	if _, err := p.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.sh("rm new")
	p.clean(p.undo(false, Window{first, second}))
	p.same("with room again", p.shape(false), was)
}

// ownDisk is a workspace on a disk of its own, in a mount namespace of its own: the test runs
// itself in one, and here it is nil then.
func ownDisk(t *testing.T, size int) *site {
	t.Helper()
	if os.Getenv("ADZE_UNDO_OWN_MOUNTS") == "" {
		cmd := exec.Command("unshare", "-rm", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "ADZE_UNDO_OWN_MOUNTS=1")
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil && strings.Contains(string(out), "--- PASS"):
			return nil
		case !strings.Contains(string(out), "=== RUN"):
			t.Skipf("no mount namespace here: %v %s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	top := t.TempDir()
	if err := unix.Mount("none", top, "tmpfs", 0, "mode=700,size="+strconv.Itoa(size)); err != nil {
		t.Fatalf("=== RUN but no tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(top, unix.MNT_DETACH) })
	p := &site{t: t, root: filepath.Join(top, "work"), state: filepath.Join(top, "state")}
	if err := os.Mkdir(p.root, 0o755); err != nil {
		t.Fatal(err)
	}
	p.open()
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// fillUp leaves so many bytes free.
func fillUp(path string, room int64) {
	f, err := os.Create(path)
	if err != nil {
		return
	}
	defer f.Close()
	for _, n := range []int{1 << 16, 1 << 12, 1} {
		for err == nil {
			_, err = f.Write(make([]byte, n))
		}
		err = nil
	}
	if at, err := f.Seek(0, io.SeekCurrent); err == nil {
		_ = f.Truncate(max(at-room, 0))
	}
}

// TestWhatComesIntoViewIsNotRemoved lets a command change what is covered: what undo did not know
// before is neither removed with the undo nor by the redo.
func TestWhatComesIntoViewIsNotRemoved(t *testing.T) {
	for _, script := range []string{": > .gitignore", "rm .gitignore", "mv build other", "rm build/1", "printf 'build/\\nsrc/\\ncache/\\n' > .gitignore"} {
		p := newSite(t)
		p.opts.Limits.IgnoredDir = 3
		p.sh("mkdir -p .git build/sub cache src; printf 'build/\\ncache/\\n' > .gitignore; for i in 1 2 3 4; do printf $i > build/$i; printf $i > build/sub/$i; printf $i > src/$i; done; printf c > cache/c")
		before := p.mark()
		p.reopen()
		p.opts.Limits.IgnoredDir = 3
		p.sh(script)
		after, is := p.mark(), p.shape(false)
		p.sh("if [ -d other ]; then printf later > other/1; fi")
		later := p.mark()
		r := p.undo(false, Window{before, after}, Window{after, later})
		if got, want := p.shape(false)["other/1"], is["other/1"]; got != want {
			t.Errorf("%s: a later change is not undone: %q, want %q", script, got, want)
		}
		kept := func(what string) {
			now := p.shape(false)
			for path, file := range is {
				if moved := "build" + strings.TrimPrefix(path, "other"); now[path] != file && path != ".gitignore" && path != "other/1" && now[moved] != file {
					t.Errorf("%s: %s: %s is gone: %q", script, what, path, now[path])
				}
			}
		}
		kept("undo")
		p.undo(false, r.Window)
		kept("redo")
	}
}

// TestWhatNobodyTouchedStays changes by chance also what is covered, and then looks for anything
// that went away or became another although neither a command nor a user touched it.
// ADZE_TESTS says how often.
func TestWhatNobodyTouchedStays(t *testing.T) {
	seed := effort.Seed(t, 1)
	for i := range effort.Rounds(2, 5, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+9000))
		p := newSite(t)
		p.opts.Limits.IgnoredDir, p.opts.Limits.File, p.opts.Limits.IgnoredFile = 2, 40, 1
		p.sh(chance(r, 50))
		var windows []Window
		ever := map[string]bool{}
		at := p.shape(false)
		step := func(n int) Mark {
			script := chance(r, n)
			if r.IntN(2) == 0 {
				script += "( printf '" + strings.Join([]string{"a/", "b/", "c", "*", "d/\\n!d/a", ""}[r.IntN(6):][:1], "") + "\\n' > " + []string{"", "a/", "b/"}[r.IntN(3)] + ".gitignore ) 2>/dev/null || true\n"
			}
			if r.IntN(3) == 0 {
				script += "( rm -f .gitignore a/.gitignore; head -c 50 /dev/zero > c/big ) 2>/dev/null || true\n"
			}
			p.sh(script)
			now := p.shape(false)
			touched(ever, at, now)
			at = now
			return p.mark()
		}
		p.mark()
		for range 1 + r.IntN(3) {
			before := step(3)
			windows = append(windows, Window{before, step(6)})
		}
		present := p.shape(false)
		undone := p.undo(false, windows...)
		for what, is := range map[string]map[string]string{"undo": p.shape(false), "redo": func() map[string]string { p.undo(false, undone.Window); return p.shape(false) }()} {
			for path := range present {
				// What stands in a folder that was moved as a whole by a command goes back with it.
				if !related(ever, path) && is[path] != present[path] {
					t.Errorf("seed %d, round %d: %s: %s was %q and is %q", seed, i, what, path, present[path], is[path])
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}
