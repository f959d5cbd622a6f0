package workspace_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/workspace"
)

func TestUpdateKeepsWhatIsNotContent(t *testing.T) {
	p := open(t)
	path := p.put("real/tool.sh", "old")
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	p.link("real/tool.sh", "tool")
	w, err := p.write("tool", "new content")
	if err != nil {
		t.Fatal(err)
	}
	if p.content("real/tool.sh") != "new content" {
		t.Errorf("content %q", p.content("real/tool.sh"))
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v", info.Mode())
	}
	if target, err := os.Readlink(p.dir + "/tool"); err != nil || target != "real/tool.sh" {
		t.Errorf("the link became %q, %v", target, err)
	}
	sum := sha256.Sum256([]byte("new content"))
	if w.State.SHA256 != hex.EncodeToString(sum[:]) || w.Created || w.Bytes != 11 {
		t.Errorf("got %+v", w)
	}
	f, _ := p.root.Open(p.resolve("tool"))
	defer f.Close()
	if f.Info().Stamp != w.State.Stamp {
		t.Errorf("the remembered stamp %+v is not the file's %+v", w.State.Stamp, f.Info().Stamp)
	}
}

func TestUpdateCutsHardLinks(t *testing.T) {
	p := open(t)
	other := p.put(p.out+"/other", "old")
	if err := os.Link(other, p.dir+"/file"); err != nil {
		t.Skip("no hard links here:", err)
	}
	w, err := p.write("file", "new")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(other); string(b) != "old" {
		t.Errorf("written through to the other name: %q", b)
	}
	if len(w.Notes) != 1 || !strings.Contains(w.Notes[0], "2 hard links") {
		t.Errorf("notes %q", w.Notes)
	}
}

func TestUpdateSplices(t *testing.T) {
	p := open(t)
	p.put("f", "0123456789")
	_, err := p.root.Update(context.Background(), p.resolve("f"), func(*workspace.Current) ([]workspace.Splice, error) {
		return []workspace.Splice{{Offset: 0, Len: 1, Data: []byte("A")}, {Offset: 3, Len: 0, Data: []byte("--")}, {Offset: 5, Len: 4}}, nil
	})
	if err != nil || p.content("f") != "A12--349" {
		t.Errorf("got %q %v", p.content("f"), err)
	}
	for _, bad := range [][]workspace.Splice{{{Offset: 5, Len: 9}}, {{Offset: 2, Len: 2}, {Offset: 3}}, {{Offset: 0, Len: -1}}, nil} {
		_, err := p.root.Update(context.Background(), p.resolve("f"), func(*workspace.Current) ([]workspace.Splice, error) { return bad, nil })
		if err == nil || p.content("f") != "A12--349" {
			t.Errorf("%v: err %v, content %q", bad, err, p.content("f"))
		}
	}
}

func TestUpdateRefuses(t *testing.T) {
	p := open(t)
	p.put(".git/config", "x")
	p.put("ro", "x")
	os.Chmod(p.dir+"/ro", 0o444)
	p.put("file", "x")
	for name, want := range map[string]string{
		".git/config": workspace.Protected, ".git/hooks/new": workspace.Protected, ".adze/x": workspace.Protected,
		"ro": workspace.IO, ".": workspace.IsDirectory,
	} {
		before := p.tree()
		if _, err := p.write(name, "new"); code(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if after := p.tree(); !slices.Equal(before, after) {
			t.Errorf("%s: tree %q became %q", name, before, after)
		}
	}
}

func TestUpdateMakesFoldersAndTakesThemBack(t *testing.T) {
	p := open(t)
	if w, err := p.write("a/b/c.txt", "x"); err != nil || !w.Created {
		t.Fatalf("%+v %v", w, err)
	}
	_, err := p.root.Update(context.Background(), p.resolve("n/e/w.txt"), func(*workspace.Current) ([]workspace.Splice, error) {
		return nil, context.Canceled
	})
	if err == nil {
		t.Fatal("no error")
	}
	if want := []string{"a", "a/b", "a/b/c.txt"}; !slices.Equal(p.tree(), want) {
		t.Errorf("tree %q", p.tree())
	}
}

func TestUpdateNoticesAChangeDuringTheWrite(t *testing.T) {
	p := open(t)
	path := p.put("f", "old")
	_, err := p.root.Update(context.Background(), p.resolve("f"), func(cur *workspace.Current) ([]workspace.Splice, error) {
		os.WriteFile(path, []byte("theirs, longer"), 0o644)
		return []workspace.Splice{{Offset: 0, Len: 3, Data: []byte("ours")}}, nil
	})
	if code(err) != workspace.Stale || p.content("f") != "theirs, longer" {
		t.Errorf("%v, content %q", err, p.content("f"))
	}
	_, err = p.root.Update(context.Background(), p.resolve("g"), func(cur *workspace.Current) ([]workspace.Splice, error) {
		p.put("g", "theirs")
		return []workspace.Splice{{Data: []byte("ours")}}, nil
	})
	if code(err) != workspace.Stale || p.content("g") != "theirs" {
		t.Errorf("%v, content %q", err, p.content("g"))
	}
	if want := []string{"f", "g"}; !slices.Equal(p.tree(), want) {
		t.Errorf("tree %q", p.tree())
	}
}

func TestUpdateAborts(t *testing.T) {
	p := open(t)
	p.put("f", "old")
	ctx, cancel := context.WithCancel(context.Background())
	_, err := p.root.Update(ctx, p.resolve("f"), func(*workspace.Current) ([]workspace.Splice, error) {
		cancel()
		return []workspace.Splice{{Len: 3, Data: []byte("new")}}, nil
	})
	if code(err) != workspace.Aborted || p.content("f") != "old" || len(p.tree()) != 1 {
		t.Errorf("%v, %q, %q", err, p.content("f"), p.tree())
	}
}

// Many writers, through two roots as two processes would, each add one line to what they find.
func TestUpdatesOfOnePathTakeTurns(t *testing.T) {
	p := open(t)
	p.put("log", "")
	second, err := workspace.OpenWith(p.dir, workspace.Options{LockDir: filepath.Join(filepath.Dir(p.dir), "locks")})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	var wg sync.WaitGroup
	for i := range 40 {
		root := []*workspace.Root{p.root, second}[i%2]
		wg.Go(func() {
			path, err := root.Resolve("log")
			if err == nil {
				_, err = root.Update(context.Background(), path, func(cur *workspace.Current) ([]workspace.Splice, error) {
					return []workspace.Splice{{Offset: cur.Size(), Data: fmt.Appendf(nil, "%d\n", i)}}, nil
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(p.content("log"), "\n"); got != 40 {
		t.Errorf("%d of 40 lines survived", got)
	}
}

func TestWaitingForALockAborts(t *testing.T) {
	p := open(t)
	p.put("f", "old")
	second, err := workspace.OpenWith(p.dir, workspace.Options{LockDir: filepath.Join(filepath.Dir(p.dir), "locks")})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_, err = p.root.Update(context.Background(), p.resolve("f"), func(*workspace.Current) ([]workspace.Splice, error) {
		for _, root := range []*workspace.Root{p.root, second} {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := root.Update(ctx, p.resolve("f"), whole("x")); code(err) != workspace.Aborted {
				t.Errorf("got %v", err)
			}
		}
		return []workspace.Splice{{Len: 3, Data: []byte("new")}}, nil
	})
	if err != nil || p.content("f") != "new" {
		t.Errorf("%v %q", err, p.content("f"))
	}
}

func TestUpdateThroughADanglingLinkMakesTheTarget(t *testing.T) {
	p := open(t)
	p.link("later/target", "link")
	if _, err := p.write("link", "made"); err != nil {
		t.Fatal(err)
	}
	if p.content("later/target") != "made" {
		t.Error("the target was not made")
	}
	if target, err := os.Readlink(p.dir + "/link"); err != nil || target != "later/target" {
		t.Errorf("the link became %q, %v", target, err)
	}
}
