//go:build linux

package undo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"adze/internal/undo/pack"
)

// cloning is a workspace on a file system that clones files, where a file over 10,000 bytes is
// large.
func cloning(t *testing.T) *site {
	t.Helper()
	t.Setenv("ADZE_UNDO_DISK", "1")
	p := newSite(t)
	p.opts.Limits.File = 10_000
	p.write("large", noise(1_000_000))
	p.mark()
	if p.clones.off.Load() {
		t.Skip("files cannot be cloned in the temporary folder; let TMPDIR be on XFS or btrfs")
	}
	p.settledNow()
	return p
}

func TestWithoutClonesALargeFileIsLeftOut(t *testing.T) {
	p := newSite(t)
	p.opts.Limits.File = 10_000
	p.clones.off.Store(true)
	p.write("large", noise(20_000))
	m := p.mark()
	if left := p.LeftOut(); len(left) != 1 || left[0] != (Left{"large", 20_000, leftLarge}) {
		t.Errorf("left out %v", left)
	}
	p.clones.off.Store(false) // it is tried, and fails cleanly, or the file is kept
	p.sh("touch -d 2020-01-01 large")
	if p.mark() == m {
		t.Error("a change of what is left out is not seen")
	}
	if left, _ := filepath.Glob(filepath.Join(p.state, "clones", "new-*")); len(left) > 0 {
		t.Errorf("left in the store: %v", left)
	}
}

func TestALargeFileIsKeptAsAClone(t *testing.T) {
	p := cloning(t)
	p.setAttr("large", "user.tag", "large")
	first, was := p.mark(), p.attrs()
	if records, size := p.store.Stats(); size > 100_000 {
		t.Errorf("the store took %d bytes in %d records", size, records)
	}
	p.sh("printf x | dd of=large bs=1 seek=500000 conv=notrunc status=none; cp large again; chmod 600 large")
	second := p.mark()
	p.sh("rm large; mv again other")
	third, is := p.mark(), p.attrs()
	undone := p.undo(false, Window{first, second}, Window{second, third})
	p.clean(undone)
	p.same("undo", p.attrs(), was)
	p.reopen()
	p.opts.Limits.File = 10_000
	p.clean(p.undo(false, undone.Window))
	p.same("redo", p.attrs(), is)
}

func TestADamagedCloneIsNeverPutBack(t *testing.T) {
	p := cloning(t)
	first := p.mark()
	clones, _ := filepath.Glob(filepath.Join(p.state, "clones", "*"))
	if len(clones) != 1 {
		t.Fatalf("clones: %v", clones)
	}
	b, err := os.ReadFile(clones[0])
	if err != nil {
		t.Fatal(err)
	}
	b[777] ^= 1
	if err := os.WriteFile(clones[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sh("rm large")
	r := p.undo(false, Window{first, p.mark()})
	if len(r.Refused) != 1 || len(r.Done) != 0 {
		t.Errorf("refused %v, done %v", r.Refused, r.Done)
	}
	if _, err := os.Lstat(filepath.Join(p.root, "large")); !errors.Is(err, os.ErrNotExist) {
		t.Error("something was put back")
	}
}

func TestClonesThatNobodyNeedsAreDropped(t *testing.T) {
	p := cloning(t)
	var all []Named
	for i := range 3 {
		p.write("large", noise(500_000+i))
		all = append(all, Named{p.mark(), time.Now()})
	}
	if _, err := p.Prune(context.Background(), Retention{}, all[1]); err != nil {
		t.Fatal(err)
	}
	clones, _ := filepath.Glob(filepath.Join(p.state, "clones", "*"))
	if len(clones) != 2 {
		t.Errorf("clones: %v", clones)
	}
	secret, _ := os.ReadFile(filepath.Join(p.root, "large"))
	if n, err := p.Forget(context.Background(), []string{"large"}, all[1].Mark); err != nil || n != 2 {
		t.Errorf("Forget: %d, %v", n, err)
	}
	clones, _ = filepath.Glob(filepath.Join(p.state, "clones", "*"))
	if len(clones) != 0 || p.has(Entry{Kind: File, Size: int64(len(secret)), Hash: pack.Sum(secret)}) || bytes.Equal(secret, nil) {
		t.Errorf("clones: %v", clones)
	}
}

func TestAFileThatIsNotReadIntoMemoryIsSummedUp(t *testing.T) {
	p := newSite(t)
	p.sh("truncate -s 70000000 huge; printf end >> huge")
	root, err := p.opts.open()
	if err != nil {
		t.Fatal(err)
	}
	defer root.close()
	e, err := root.look("huge")
	want := pack.Sum(append(make([]byte, 70_000_000), "end"...))
	if err != nil || e.Hash != want || e.Size != 70_000_003 || e.Mode != 0o644 {
		t.Errorf("%+v, %v", e, err)
	}
}
