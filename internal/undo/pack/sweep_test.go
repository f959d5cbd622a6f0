package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"adze/internal/testkit/effort"
)

// some makes a store of small packs with contents of which each third lives, but all and none in
// some packs.
func some(t *testing.T, dir string) (live, dead map[Hash][]byte) {
	t.Helper()
	s := open(t, dir)
	s.max = 2000
	live, dead = map[Hash][]byte{}, map[Hash][]byte{}
	for i := range 60 {
		c := fmt.Append(nil, "content ", i, " ", noise(200))
		if i%3 == 0 && i < 40 || i > 50 {
			live[put(t, s, c)] = c
		} else {
			dead[put(t, s, c)] = c
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return live, dead
}

func isLive(live map[Hash][]byte) func(Hash) bool {
	return func(h Hash) bool { return live[h] != nil }
}

func (s *Store) whole(t *testing.T, what string, live map[Hash][]byte) {
	t.Helper()
	for h, want := range live {
		if got, err := s.Get(h); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestASweepDropsWhatIsDead(t *testing.T) {
	for _, all := range []bool{false, true} {
		dir := t.TempDir()
		live, dead := some(t, dir)
		s := open(t, dir)
		s.max = 2000
		before := s.size()
		var most int64
		freed, err := s.Sweep(context.Background(), Sweep{Live: isLive(live), All: all, Step: func() {
			most = max(most, onDisk(t, dir))
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := before - s.size(); got != freed || freed <= 0 {
			t.Errorf("freed %d, said %d", got, freed)
		}
		if most > before+2000+int64(len(live)+len(dead))*indexRec*2 {
			t.Errorf("%d bytes on the disk in between, of %d", most, before)
		}
		kept := 0
		for h, c := range dead {
			if !s.Has(h) {
				continue
			}
			kept++
			if packs, _ := filepath.Glob(filepath.Join(dir, "*")); all && anyHas(packs, c) {
				t.Error("a dead content is still on the disk")
			}
		}
		if all && kept > 0 || kept > len(dead)/2 {
			t.Errorf("all=%v: %d of %d dead contents are left", all, kept, len(dead))
		}
		for range 2 {
			s.whole(t, "after a sweep", live)
			put(t, s, noise(50)) // it goes on
			_ = s.Close()
			s = open(t, dir)
		}
	}
}

func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range packs {
		if st, err := os.Stat(path); err == nil {
			bytes += st.Size()
		}
	}
	return bytes
}

func anyHas(paths []string, text []byte) bool {
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, text) {
			return true
		}
	}
	return false
}

func TestNothingIsDroppedWhileAnotherHasTheStoreOpen(t *testing.T) {
	dir := t.TempDir()
	live, dead := some(t, dir)
	a, b := open(t, dir), open(t, dir)
	if _, err := a.Sweep(context.Background(), Sweep{Live: isLive(live)}); !errors.Is(err, ErrInUse) {
		t.Fatalf("a sweep beside another: %v", err)
	}
	for _, s := range []*Store{a, b} {
		s.whole(t, "beside another", live)
		s.whole(t, "beside another", dead)
		put(t, s, noise(20))
	}
	_ = b.Close()
	if _, err := a.Sweep(context.Background(), Sweep{Live: isLive(live), All: true}); err != nil {
		t.Fatal(err)
	}
	a.whole(t, "alone", live)
}

// TestMain is the process that dies in the middle of a sweep when the variable is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ADZE_SWEEP_DIR"); dir != "" {
		sweepAndDie(dir)
	}
	os.Exit(m.Run())
}

func sweepAndDie(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s.max = 2000
	steps, _ := strconv.Atoi(os.Getenv("ADZE_SWEEP_STEP"))
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "live"))
	_, err = s.Sweep(context.Background(), Sweep{All: true, Live: func(h Hash) bool { return bytes.Contains(text, []byte(h.String())) }, Step: func() {
		if steps--; steps < 0 {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill() // signal 9
			select {}
		}
	}})
	fmt.Println(err)
	os.Exit(0)
}

// TestASweepThatIsKilledLosesNothing kills a process of its own with signal 9 at each step of a
// sweep, and each goes on where the last one died. ADZE_TESTS=long wants every step; else some.
func TestASweepThatIsKilledLosesNothing(t *testing.T) {
	stride := effort.Rounds(45, 11, 1)
	for n := 0; ; n += stride {
		top := t.TempDir()
		dir := filepath.Join(top, "packs")
		live, dead := some(t, dir)
		var list []byte
		for h := range live {
			list = fmt.Appendln(list, h)
		}
		if err := os.WriteFile(filepath.Join(top, "live"), list, 0o600); err != nil {
			t.Fatal(err)
		}
		died := false
		for _, step := range []int{n, n / 2, 1} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ADZE_SWEEP_DIR="+dir, "ADZE_SWEEP_STEP="+strconv.Itoa(step))
			err := cmd.Run()
			died = died || err != nil
			s := open(t, dir)
			s.whole(t, fmt.Sprint("killed at step ", step), live)
			_ = s.Close()
		}
		s := open(t, dir)
		if _, err := s.Sweep(context.Background(), Sweep{Live: isLive(live), All: true}); err != nil {
			t.Fatal(err)
		}
		s.whole(t, "swept to its end", live)
		for h := range dead {
			if s.Has(h) {
				t.Error("a dead content is left")
			}
		}
		if !died || t.Failed() {
			return
		}
	}
}

// TestAnIndexIsOnlyACache damages, removes and exchanges indexes.
func TestAnIndexIsOnlyACache(t *testing.T) {
	dir := t.TempDir()
	live, dead := some(t, dir)
	indexes, _ := filepath.Glob(filepath.Join(dir, "*.idx"))
	if len(indexes) < 5 {
		t.Fatalf("indexes: %v", indexes)
	}
	for i, path := range indexes {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 0:
			b[i*7%len(b)] ^= 4
		case 1:
			b = b[:len(b)-i]
		case 2:
			b = nil
		case 3:
			if b, err = os.ReadFile(indexes[(i+1)%len(indexes)]); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	s.whole(t, "bad indexes", live)
	s.whole(t, "bad indexes", dead)
}
