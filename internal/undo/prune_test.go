//go:build linux

package undo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/undo/pack"
)

// noise is a text that does not get smaller.
func noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.IntN(256))
	}
	return b
}

// history makes states of which each has a file of its own, an hour apart, the last at now.
func (p *site) history(states int, now time.Time) (all []Named) {
	p.t.Helper()
	for i := range states {
		p.write("changing", noise(20_000))
		p.write("src/a.go", fmt.Append(nil, "package a", i))
		all = append(all, Named{p.mark(), now.Add(time.Duration(i-states+1) * time.Hour)})
	}
	return all
}

// whole reports whether everything of a state is kept.
func (p *site) whole(m Mark) bool {
	k := &keptContents{store: p.store, w: p.Workspace, all: map[pack.Hash]bool{}}
	k.state(m.Tree)
	for h := range k.all {
		if _, err := p.store.Get(h); err != nil {
			return false
		}
	}
	return true
}

func TestPruneKeepsWhatIsNamedYoungAndWithinTheSize(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name string
		r    Retention
		keep int // of ten states, the youngest
	}{
		{"nothing is beyond", Retention{}, 10},
		{"age", Retention{Age: 3*time.Hour + time.Minute}, 4},
		{"size", Retention{Size: 70_000}, 3}, // of about 20,400 bytes each, and what they share
	} {
		p := newSite(t)
		p.fill()
		p.opts.Now = func() time.Time { return now }
		all := p.history(10, now)
		p.sh("printf unnamed > unnamed")
		unnamed := p.mark()
		p.sh("rm unnamed; printf latest > latest")
		latest := p.mark()
		r, err := p.Prune(context.Background(), c.r, all...)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Dropped) != 10-c.keep || (r.Freed > 0) != (c.keep < 10) {
			t.Errorf("%s: %d dropped, %d bytes freed", c.name, len(r.Dropped), r.Freed)
		}
		for i, n := range all {
			if kept := i >= 10-c.keep; kept && !p.whole(n.Mark) {
				t.Errorf("%s: state %d is not whole", c.name, i)
			}
		}
		if p.whole(unnamed) && c.keep < 6 { // else its pack is not half dead
			t.Errorf("%s: what nobody names is kept", c.name)
		}
		if !p.whole(latest) {
			t.Errorf("%s: the latest state is gone", c.name)
		}
		p.same(c.name, p.after(Window{all[9].Mark, latest}), map[string]string{"latest": "absent"})
	}
}

// after undoes a window and tells of the paths that it put back what they are.
func (p *site) after(win Window) map[string]string {
	p.t.Helper()
	r := p.undo(false, win)
	p.clean(r)
	all := map[string]string{}
	for _, path := range r.Done {
		all[path] = "there"
		if _, err := os.Lstat(filepath.Join(p.root, path)); err != nil {
			all[path] = "absent"
		}
	}
	return all
}

func TestNothingIsPrunedUnderAnotherSession(t *testing.T) {
	p := newSite(t)
	p.fill()
	all := p.history(3, time.Now())
	other, err := Open(p.options())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := p.Prune(context.Background(), Retention{Size: 1}); !errors.Is(err, ErrInUse) {
		t.Errorf("Prune: %v", err)
	}
	if _, err := p.Forget(context.Background(), []string{"src"}); !errors.Is(err, ErrInUse) || len(p.forgotten) > 0 {
		t.Errorf("Forget: %v, %v", err, p.forgotten)
	}
	for _, n := range all {
		if !p.whole(n.Mark) {
			t.Error("a state is not whole")
		}
	}
}

// TestAPruneThatIsKilledKeepsWhatItShould kills a process of its own with signal 9 at each step of
// a prune; of some of them only, unless ADZE_TESTS is long.
func TestAPruneThatIsKilledKeepsWhatItShould(t *testing.T) {
	stride := effort.Rounds(29, 7, 1)
	for n := 0; ; n += stride {
		p := newSite(t)
		p.fill()
		var names []string
		all := p.history(6, time.Now())
		for _, named := range all[4:] {
			names = append(names, named.Mark.String())
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ADZE_UNDO_KILLED="+p.root, "ADZE_UNDO_NAMED="+strings.Join(names, " "), "ADZE_UNDO_MOMENT="+strconv.Itoa(n))
		out, died := cmd.CombinedOutput()
		p.open()
		for range 2 {
			for _, i := range []int{4, 5} {
				if !p.whole(all[i].Mark) {
					t.Fatalf("killed at %d (%s): state %d is not whole", n, out, i)
				}
			}
			if _, err := p.Prune(context.Background(), Retention{}, all[4:]...); err != nil {
				t.Fatal(err)
			}
		}
		if p.whole(all[0].Mark) {
			t.Errorf("killed at %d: what nobody names is kept", n)
		}
		if died == nil {
			return
		}
	}
}

func TestWhatIsForgottenIsNowhere(t *testing.T) {
	p := newSite(t)
	p.fill()
	secret, nested, shared := noise(400), noise(500), noise(300)
	p.write(".env", secret)
	p.sh("mkdir -p keys/deep")
	p.write("keys/deep/id", nested)
	p.write("keys/shared", shared)
	p.write("shared", shared)
	first := p.mark()
	p.write(".env", noise(100))
	second := p.mark()
	n, err := p.Forget(context.Background(), []string{".env", "./keys/"}, first, second)
	if err != nil || n != 4 {
		t.Fatalf("%d contents were dropped, %v", n, err)
	}
	packs, _ := filepath.Glob(filepath.Join(p.state, "packs", "*"))
	for _, path := range packs {
		b, _ := os.ReadFile(path)
		if bytes.Contains(b, secret) || bytes.Contains(b, nested) {
			t.Errorf("%s still holds it", path)
		}
	}
	if got := fmt.Sprint(p.forgotten); got != "[.env keys]" {
		t.Error(got)
	}
	p.reopen()
	p.sh("printf x > .env; rm shared src/a.go; rm -r keys")
	after := p.mark()
	var refused []string
	r := p.undo(false, Window{first, after})
	for _, x := range r.Refused {
		refused = append(refused, x.Path)
	}
	if want := "[.env keys/deep/id keys/shared]"; fmt.Sprint(refused) != want && fmt.Sprint(refused) != "[.env keys/deep/id]" {
		t.Errorf("refused %v, want %s", r.Refused, want)
	}
	for _, name := range []string{"shared", "src/a.go"} {
		if _, err := os.Stat(filepath.Join(p.root, name)); err != nil {
			t.Error("what was not forgotten did not come back:", err)
		}
	}
}

// TestWithoutRoomTheCallerIsTold sets the floor above what the disk has.
func TestWithoutRoomTheCallerIsTold(t *testing.T) {
	p := newSite(t)
	p.fill()
	first := p.mark()
	p.opts.Limits.KeepFree = 1 << 62
	if again, err := p.Take(context.Background()); err != nil || again != first {
		t.Errorf("nothing new is to be kept: %v", err)
	}
	p.write("new", noise(100))
	p.sh("printf one > src/copy; rm src/copy; cp run.sh again; rm run.sh")
	m, err := p.Take(context.Background())
	if !errors.Is(err, ErrSpace) || m.IsZero() {
		t.Fatalf("Take: %v", err)
	}
	if left := p.LeftOut(); len(left) != 1 || left[0].Path != "new" || left[0].Reason != leftSpace {
		t.Errorf("left out %v", left)
	}
	r := p.undo(false, Window{first, m})
	if fmt.Sprint(r.Done) != "[again run.sh]" || len(r.Refused) != 1 || r.Refused[0] != (Refusal{"new", refusedUnknown}) {
		t.Errorf("undo without room: %v, refused %v", r.Done, r.Refused)
	}
	p.opts.Limits.KeepFree = 1
	if _, err := p.Take(context.Background()); err != nil || len(p.LeftOut()) > 0 {
		t.Errorf("with room again: %v, %v", err, p.LeftOut())
	}
}
