//go:build linux

package undo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"adze/internal/files/fsnotify"
	"adze/internal/testkit/effort"

	"golang.org/x/sys/unix"
)

// walked is a workspace on the same folder that looks at everything each time.
func (p *site) walked() *Workspace {
	p.t.Helper()
	o := p.options()
	o.Walk, o.State = true, p.state+"-walked"
	w, err := Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = w.Close() })
	return w
}

// settledNow makes the clock of the workspace stand so late that no stat is doubted.
func (p *site) settledNow() {
	late := time.Now().Add(time.Hour)
	p.opts.Now = func() time.Time { return late }
}

// likeAWalk compares the state that hints gave with that of a walk.
func (p *site) likeAWalk(w *Workspace, what string) {
	p.t.Helper()
	got := p.mark()
	want, err := w.Settle(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	if got != want {
		p.t.Errorf("%s: the hints did not tell all", what)
	}
	if a, b := p.LeftOut(), w.LeftOut(); !slices.Equal(a, b) {
		p.t.Errorf("%s: left out %v, a walk says %v", what, a, b)
	}
}

// TestHintsTellWhatAWalkFinds changes a tree by chance and compares the state taken by hints with
// that of a walk that knows nothing. ADZE_TESTS says how often.
func TestHintsTellWhatAWalkFinds(t *testing.T) {
	seed := effort.Seed(t, 1)
	for i := range effort.Rounds(2, 4, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+1000))
		p := newSite(t)
		p.settledNow()
		p.fill()
		w := p.walked()
		for step := range 6 {
			script := chance(r, 1+r.IntN(8))
			if r.IntN(3) == 0 {
				script += "( " + []string{"printf 'a\\n' > .gitignore", "rm -f .gitignore", "mkdir -p b; printf '*\\n' > b/.gitignore", "mkdir -p .git/info; echo c > .git/info/exclude",
					"mv src lib || mv lib src", "mkdir -p x/y && mv x z; mkdir -p x; printf 1 > z/y/f", "mkfifo fifo || rm fifo", "chmod 700 src || true",
					"mv bin t && mv empty bin && mv t empty; printf q > empty/raw", "ln src/a.go second"}[r.IntN(10)] + " ) 2>/dev/null || true\n"
			}
			p.sh(script)
			p.likeAWalk(w, fmt.Sprintf("seed %d, round %d, step %d: %s", seed, i, step, script))
			if t.Failed() {
				return
			}
		}
		if err := p.Unwatched(); err != nil {
			t.Skip(err)
		}
	}
}

func TestOfACleanTreeNothingIsRead(t *testing.T) {
	p := newSite(t)
	p.settledNow()
	p.sh("for i in 1 2 3 4 5 6 7 8 9; do mkdir -p d$i/e; printf $i > d$i/e/f; printf $i > d$i/g; done")
	first := p.mark()
	if err := p.Unwatched(); err != nil {
		t.Skip(err)
	}
	if again := p.mark(); again != first || p.looked.Load() != 0 {
		t.Errorf("looked at %d entries", p.looked.Load())
	}
	p.sh("printf more >> d3/e/f")
	if again := p.mark(); again == first || p.looked.Load() != 1 {
		t.Errorf("one file changed: looked at %d entries", p.looked.Load())
	}
	if _, err := p.Settle(context.Background()); err != nil || p.looked.Load() != 36 {
		t.Errorf("Settle looked at %d entries of 36, %v", p.looked.Load(), err)
	}
}

func TestLostEventsAreMadeUpByAWalk(t *testing.T) {
	p := newSite(t)
	p.settledNow()
	p.fill()
	p.mark()
	if p.watch == nil {
		t.Skip(p.Unwatched())
	}
	w := p.walked()
	for i := range 10_000 { // two events each, more than the queue holds
		p.write(fmt.Sprint("bin/lost", i%100), []byte{byte(i)})
	}
	p.sh("printf told > bin/raw")
	p.likeAWalk(w, "after an overflow")
	if got, all := p.looked.Load(), w.looked.Load(); got != all {
		t.Errorf("%d entries of %d were looked at", got, all)
	}
	p.sh("printf later > bin/raw; mkdir -p new/er; printf n > new/er/f")
	p.likeAWalk(w, "after the walk")
	p.sh("printf later > new/er/f")
	p.likeAWalk(w, "in a new folder")
	if n := p.looked.Load(); n > 20 {
		t.Errorf("the hints are not used any more: %d entries", n)
	}
}

func TestMoreFoldersThanAreWatched(t *testing.T) {
	p := newSite(t)
	p.fill()
	p.opts.Watches = 3
	w := p.walked()
	p.likeAWalk(w, "the first")
	if err := p.Unwatched(); !errors.Is(err, fsnotify.ErrLimit) {
		t.Errorf("Unwatched: %v", err)
	}
	p.sh("printf x > src/deep/er/x")
	p.likeAWalk(w, "without hints")
}

func TestAFolderThatIsMadeAnewIsLookedAt(t *testing.T) {
	p := newSite(t)
	p.settledNow()
	p.fill()
	p.mark()
	w := p.walked()
	p.sh("cd ..; cp -a work other; rm -rf work; mv other work; printf new > work/src/a.go")
	p.likeAWalk(w, "another folder at the path")
	p.sh("printf newer > src/a.go")
	p.likeAWalk(w, "a change in it")
}

// TestAStoreThroughAMemoryMapIsSeen stores into a page that is dirty already, which changes no
// timestamp.
func TestAStoreThroughAMemoryMapIsSeen(t *testing.T) {
	p := newSite(t)
	p.settledNow()
	p.write("mapped", make([]byte, 4096))
	f, err := os.OpenFile(filepath.Join(p.root, "mapped"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	page, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Skip(err)
	}
	page[0] = 1
	first := p.mark()
	if p.Unwatched() != nil {
		t.Skip(p.Unwatched())
	}
	page[1] = 1
	if err := errors.Join(unix.Munmap(page), f.Close()); err != nil {
		t.Fatal(err)
	}
	if p.mark() == first {
		t.Error("the store is not seen")
	}
}

func TestTheFirstStateIsTakenInTheBackground(t *testing.T) {
	p := newSite(t)
	p.fill()
	want, err := p.walked().Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	reached, goOn := make(chan struct{}), make(chan struct{})
	first := true
	p.workers = 1
	p.crash = func() {
		if first {
			first = false
			close(reached)
			<-goOn
		}
	}
	p.Begin(context.Background())
	<-reached
	short, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("no patience"))
	if _, err := p.Take(short); err == nil || err.Error() != "no patience" {
		t.Errorf("a Take that was given up: %v", err)
	}
	close(goOn)
	if got := p.mark(); got != want {
		t.Error("another state than that of a walk")
	}
	p.reopen()
	p.Begin(context.Background())
	if err := p.Close(); err != nil { // in the middle of it
		t.Error(err)
	}
	p.open()
}

// A small folder is not watched for a state or two; a large one is from the first state on, also
// where nothing was known of it.
func TestASmallFolderIsNotWatchedAtOnce(t *testing.T) {
	p := newSite(t)
	p.fill()
	open := func() {
		t.Helper()
		_ = p.Close()
		o := p.options()
		o.eager = false
		w, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		p.Workspace = w
	}
	open()
	if p.mark(); p.Unwatched() != nil {
		t.Skip(p.Unwatched())
	}
	for n := 1; p.watch == nil; n++ {
		if n > fewWalks {
			t.Fatal("it is never watched")
		}
		p.write("src/a.go", fmt.Append(nil, "changed ", n))
		p.likeAWalk(p.walked(), fmt.Sprint("state ", n))
	}
	if p.walks < 3 {
		t.Errorf("it is watched after %d looks", p.walks)
	}
	p.sh("mkdir many; cd many; for i in $(seq 400); do : > f$i; done")
	for _, known := range []bool{false, true} {
		if !known {
			if err := os.RemoveAll(p.state); err != nil {
				t.Fatal(err)
			}
		}
		open()
		if p.mark(); p.watch == nil {
			t.Errorf("a large folder is not watched; known before: %v", known)
		}
		p.write("src/a.go", fmt.Append(nil, known))
		p.likeAWalk(p.walked(), "a large folder")
	}
}
