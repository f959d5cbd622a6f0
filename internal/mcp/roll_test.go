package mcp

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// catalogueFile is the one catalogue of a pool's servers, and rollOf their roll.
func catalogueFile(t *testing.T, p *Pool) string { return p.servers["fake"].conf.file(p.opts.State) }

// again is a pool of the same servers as another run makes it.
func again(t *testing.T, p *Pool) *Pool {
	t.Helper()
	n := New(p.opts)
	t.Cleanup(n.Close)
	return n
}

// spoil writes other bytes into a file, so that only who reads it sees that.
func spoil(t *testing.T, path string, change func([]byte)) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(raw)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestAStartReadsNoDefinition: names, digests and what a server shares come from the roll, a
// definition only when somebody asks for it, and a catalogue not at all.
func TestAStartReadsNoDefinition(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old; many 40"}, nil)
	spoil(t, catalogueFile(t, p), func(raw []byte) { clear(raw) })
	b := newBench(t, p)
	names := b.set.Names()
	if len(names) != 40 || len(p.Unseen()) != 0 || b.set.Digest() == "" || len(b.problems) != 0 {
		t.Fatalf("%v, %v", names, b.problems)
	}
	if n := p.reads.Load(); n != 0 {
		t.Errorf("%d definitions are read at a start", n)
	}
	for range 2 {
		if d, _ := b.set.Get(names[3]); !strings.Contains(string(d.Parameters), "object") || d.Tags[0] != Tag {
			t.Errorf("%+v", d)
		}
	}
	if n := p.reads.Load(); n != 1 {
		t.Errorf("%d definitions are read for one", n)
	}
}

// TestARollSaysWhatTheCataloguesSay: the tools, their order and their digests are the same without
// it, and when it is damaged at any place or cut.
func TestARollSaysWhatTheCataloguesSay(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old; many 5"}, nil)
	roll := p.rollFile()
	whole, err := os.ReadFile(roll)
	if err != nil {
		t.Fatal(err)
	}
	look := func() string {
		n := New(p.opts) // is not closed, so that no roll is written
		set := newBench(t, n).set
		var b strings.Builder
		for _, d := range set.Definitions() {
			b.WriteString(d.Name + " " + d.Digest + " " + d.Description + " " + string(d.Parameters) + "\n")
		}
		return b.String() + set.Digest()
	}
	with := look()
	if err := os.Remove(roll); err != nil {
		t.Fatal(err)
	}
	without := look()
	if with != without || strings.Count(with, "\n") != 5 {
		t.Fatalf("%s\n%s", with, without)
	}
	for at := 0; at < len(whole); at += 13 {
		for _, raw := range [][]byte{whole[:at], append(slices.Clone(whole[:at]), append([]byte{whole[at] ^ 4}, whole[at+1:]...)...)} {
			if err := os.WriteFile(roll, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := look(); got != without {
				t.Fatalf("damaged at %d:\n%s", at, got)
			}
		}
	}
}

// TestARollIsMadeAnew: when a catalogue is another, and when it was damaged; another command is
// another server.
func TestARollIsMadeAnew(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old; many 5"}, nil)
	roll := p.rollFile()
	first, err := os.ReadFile(roll)
	if err != nil {
		t.Fatal(err)
	}
	c := loadCatalogue(catalogueFile(t, p))
	c.Tools = c.Tools[:2]
	if err := c.save(catalogueFile(t, p)); err != nil {
		t.Fatal(err)
	}
	n := again(t, p)
	if names := newBench(t, n).set.Names(); len(names) != 2 {
		t.Fatalf("%v", names)
	}
	n.Close()
	second, err := os.ReadFile(roll)
	if err != nil || bytes.Equal(first, second) {
		t.Fatalf("%v: the roll is as it was", err)
	}
	spoil(t, roll, func(raw []byte) { raw[len(rollMagic)] ^= 1 })
	again(t, p).Close()
	if third, _ := os.ReadFile(roll); !bytes.Equal(second, third) {
		t.Error("a damaged roll is not mended")
	}
	o := p.opts
	o.Servers = slices.Clone(o.Servers)
	o.Servers[0].Command = append(slices.Clone(o.Servers[0].Command), "more")
	other := New(o)
	if unseen := other.Unseen(); len(unseen) != 1 || other.rollFile() == roll {
		t.Errorf("%v: it is another server", unseen)
	}
	if all, _ := filepath.Glob(filepath.Join(o.State, "roll-*")); len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// TestOldRollsGo: so many are kept as there are folders that one works in.
func TestOldRollsGo(t *testing.T) {
	p := seen(t, map[string]string{"fake": "old; many 1"}, nil)
	for i := range mostRolls + 3 {
		o := p.opts
		o.Version = strings.Repeat("v", i+1)
		New(o).Close()
	}
	if all, _ := filepath.Glob(filepath.Join(p.opts.State, "roll-*")); len(all) != mostRolls {
		t.Errorf("%d rolls", len(all))
	}
}
