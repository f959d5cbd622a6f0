package sign

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A table is opened and asked without being in memory as a whole: a tree of a million files has one
// of 100 MB.
func TestATableIsNotHeldInMemory(t *testing.T) {
	dir := t.TempDir()
	at, ok := PlaceOf(dir)
	if !ok {
		t.Skip("nothing is signed here")
	}
	f := Folder{Path: filepath.Join(dir, "cache")}
	d, err := f.Begin(at, time.Now())
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 15<<10)
	for i := range 1500 {
		for j := range text {
			text[j] = byte(rng.IntN(90) + 33)
		}
		signed, err := d.Sign(bytes.NewReader(text))
		must(t, err)
		d.Add(stateOf(i, "x"), signed)
	}
	must(t, d.Finish(true))
	before := mapped(t)
	table, err := f.Open(at)
	must(t, err)
	if opened := mapped(t) - before; opened > 2<<20 {
		t.Errorf("open, %d KiB of %d are in memory", opened>>10, len(table.data)>>10)
	}
	r := table.Reject(Needed("nowhere at all"), false)
	if r == nil {
		t.Fatal("nothing is ruled out")
	}
	if asked := mapped(t) - before; len(table.data) < 6<<20 || asked > 2<<20 {
		t.Errorf("asked, %d KiB of %d are in memory", asked>>10, len(table.data)>>10)
	}
	if got, _ := r.Ask(stateOf(7, "x")); got != Empty {
		t.Errorf("a file without it: %d", got)
	}
}

// mapped is how much of files is in this process's memory, in bytes.
func mapped(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	_, rest, ok := strings.Cut(string(text), "RssFile:")
	if !ok {
		t.Skip("the system does not tell: ", err)
	}
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(kb)
	must(t, err)
	return n << 10
}
