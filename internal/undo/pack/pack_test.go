package pack

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *Store, content []byte) Hash {
	t.Helper()
	h, err := s.Put(content)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func TestContentsComeBackAsTheyWere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	contents := [][]byte{nil, []byte("a\r\nb\r\n"), bytes.Repeat([]byte("package x\n"), 5000), noise(100_000), {0}}
	var hashes []Hash
	for range 2 { // the second time nothing is added
		hashes = hashes[:0]
		for _, c := range contents {
			hashes = append(hashes, put(t, s, c))
		}
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if n, _ := s.Stats(); n != len(contents) {
		t.Errorf("%d contents, want %d", n, len(contents))
	}
	for i, h := range hashes {
		if got, err := s.Get(h); err != nil || !bytes.Equal(got, contents[i]) {
			t.Errorf("content %d: %d bytes, %v", i, len(got), err)
		}
	}
	if _, err := s.Get(Sum([]byte("never"))); !errors.Is(err, ErrMissing) {
		t.Errorf("a content that was never stored: %v", err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, packName(1)): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s is %v, want %v", filepath.Base(path), st.Mode(), mode)
		}
	}
}

// TestATailThatIsTornAtAnyByteIsCut cuts a pack at every byte, as a killed process may leave it.
func TestATailThatIsTornAtAnyByteIsCut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	first, second := put(t, s, []byte("first")), put(t, s, noise(50))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, packName(1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := len(whole) - headSize - 50
	for n := begin; n < len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		if s.Has(second) || !s.Has(first) {
			t.Fatalf("cut at %d: first %v, second %v", n, s.Has(first), s.Has(second))
		}
		third := put(t, s, []byte("third"))
		_ = s.Close()
		s = open(t, dir)
		for _, h := range []Hash{first, third} {
			if _, err := s.Get(h); err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		_ = s.Close()
	}
}

// TestNoDamageIsEverReturned turns every byte of a pack: what is read has its hash or is an error,
// and the records around the damage stay.
func TestNoDamageIsEverReturned(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	contents := map[Hash][]byte{}
	for _, c := range [][]byte{[]byte("one"), bytes.Repeat([]byte("two "), 40), noise(30)} {
		contents[put(t, s, c)] = c
	}
	_ = s.Close()
	path := filepath.Join(dir, packName(1))
	whole, _ := os.ReadFile(path)
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x41
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		lost := 0
		for h, want := range contents {
			got, err := s.Get(h)
			switch {
			case err != nil:
				lost++
			case !bytes.Equal(got, want):
				t.Fatalf("byte %d: other content", i)
			}
		}
		if lost > 1 {
			t.Errorf("byte %d: %d contents lost", i, lost)
		}
		_ = s.Close()
	}
}

func TestAFullPackIsFollowedByAnother(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.max = 1000
	var hashes []Hash
	for range 20 {
		hashes = append(hashes, put(t, s, noise(300)))
	}
	packs, _ := filepath.Glob(filepath.Join(dir, "*.pack"))
	if len(packs) < 7 {
		t.Errorf("%d packs of at most 1,000 bytes", len(packs))
	}
	for _, h := range hashes {
		if _, err := s.Get(h); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoStoresShareAFolder writes with both at once: each has its own pack and finds what the
// other wrote.
func TestTwoStoresShareAFolder(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	for range 5 {
		x, y := put(t, a, noise(100)), put(t, b, noise(100))
		if _, err := a.Get(y); err != nil {
			t.Error(err)
		}
		if _, err := b.Get(x); err != nil {
			t.Error(err)
		}
	}
	if packs, _ := filepath.Glob(filepath.Join(dir, "*.pack")); len(packs) != 2 {
		t.Errorf("packs: %v", packs)
	}
}

// TestWhatIsDamagedIsStoredAnew puts a content again after it could not be read.
func TestWhatIsDamagedIsStoredAnew(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	content := noise(200)
	h := put(t, s, content)
	put(t, s, noise(10))
	path := filepath.Join(dir, packName(1))
	whole, _ := os.ReadFile(path)
	whole[headSize+7] ^= 1
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(h); !errors.Is(err, ErrDamaged) {
		t.Fatalf("damaged: %v", err)
	}
	put(t, s, content)
	for range 2 {
		if got, err := s.Get(h); err != nil || !bytes.Equal(got, content) {
			t.Fatal(err)
		}
		_ = s.Close()
		s = open(t, dir)
	}
}
